"""The teacher: shows what the real code did, in text, in a page and in pictures.

Nothing here computes a convolution.  The arrays are those that npconv recorded while it ran, and
where a cell came from is learnt by sending labels through the same moves.
"""
