"""The commands, one module each: `register` adds its parser, `run` does what it asks and gives the exit code.

`run` imports what it needs when it is called, so that no command loads another's modules.
"""
