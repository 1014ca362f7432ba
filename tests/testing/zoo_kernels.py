"""Convolution kernels as people write them, as text, so that a fault is one changed line.

Each is written without npconv, for two spatial axes, in a way of its own.
"""

TAPS = '''
import numpy as np

def forward(input, weight, bias, *, stride, padding, dilation, groups):
    N, C, H, W = input.shape
    O, I, KH, KW = weight.shape
    (SH, SW), (DH, DW) = stride, dilation
    (top, bottom), (left, right) = padding
    OH = (H + top + bottom - DH * (KH - 1) - 1) // SH + 1
    OW = (W + left + right - DW * (KW - 1) - 1) // SW + 1
    y = np.zeros((N, O, OH, OW), input.dtype)
    for o in range(O):
        group = o // (O // groups)
        for j in range(I):
            c = group * I + j
            for kh in range(KH):
                for kw in range(KW):
                    rows = SH * np.arange(OH) + DH * kh - top
                    cols = SW * np.arange(OW) + DW * kw - left
                    inside = ((rows >= 0) & (rows < H))[:, None] & ((cols >= 0) & (cols < W))
                    patch = input[:, c].take(rows, 1, mode="clip").take(cols, 2, mode="clip")
                    y[:, o] += np.where(inside, patch, 0) * weight[o, j, kh, kw]
    if bias is not None:
        y += bias[None, :, None, None]
    return y
'''

IM2COL = '''
import numpy as np
from numpy.lib.stride_tricks import as_strided

def padded(x, padding):
    (top, bottom), (left, right) = padding
    N, C, H, W = x.shape
    big = np.zeros((N, C, H + max(top, 0) + max(bottom, 0), W + max(left, 0) + max(right, 0)), x.dtype)
    big[:, :, max(top, 0):max(top, 0) + H, max(left, 0):max(left, 0) + W] = x
    return big[:, :, max(-top, 0):big.shape[2] - max(-bottom, 0), max(-left, 0):big.shape[3] - max(-right, 0)]

def forward(input, weight, bias, *, stride, padding, dilation, groups):
    x = np.ascontiguousarray(padded(input, padding))
    N, C, H, W = x.shape
    O, I, KH, KW = weight.shape
    OH = (H - dilation[0] * (KH - 1) - 1) // stride[0] + 1
    OW = (W - dilation[1] * (KW - 1) - 1) // stride[1] + 1
    n, c, h, w = x.strides
    cols = as_strided(x, (N, C, KH, KW, OH, OW), (n, c, h * dilation[0], w * dilation[1], h * stride[0], w * stride[1]))
    cols = cols.reshape(N, groups, I * KH * KW, OH * OW)
    rows = weight.reshape(groups, O // groups, I * KH * KW)
    y = np.matmul(rows, cols).reshape(N, O, OH, OW)
    if bias is not None:
        y = y + bias.reshape(1, O, 1, 1)
    return y
'''

TILED = '''
import numpy as np

TILE = 4

def forward(input, weight, bias, *, stride, padding, dilation, groups):
    N, C, H, W = input.shape
    O, I, KH, KW = weight.shape
    (SH, SW), (DH, DW) = stride, dilation
    (top, bottom), (left, right) = padding
    big = np.zeros((N, C, 3 * H + 40, 3 * W + 40), input.dtype)
    big[:, :, 20:20 + H, 20:20 + W] = input
    OH = (H + top + bottom - DH * (KH - 1) - 1) // SH + 1
    OW = (W + left + right - DW * (KW - 1) - 1) // SW + 1
    y = np.empty((N, O, OH, OW), input.dtype)
    for start in range(0, OW, TILE):
        stop = min(start + TILE, OW)
        for o in range(O):
            first = o // (O // groups) * I
            acc = np.zeros((N, OH, stop - start), input.dtype)
            for kh in range(KH):
                for kw in range(KW):
                    h, w = 20 - top + DH * kh, 20 - left + DW * kw + SW * start
                    part = big[:, first:first + I, h:h + SH * (OH - 1) + 1:SH, w:w + SW * (stop - start - 1) + 1:SW]
                    acc += (part * weight[o, :, kh, kw][None, :, None, None]).sum(axis=1)
            y[:, o, :, start:stop] = acc if bias is None else acc + bias[o]
    return y
'''

SCATTER = '''
import numpy as np

def grad_input(grad_output, weight, input_size, *, stride, padding, dilation, groups):
    N, C, H, W = input_size
    O, I, KH, KW = weight.shape
    OH, OW = grad_output.shape[2:]
    dx = np.zeros(input_size, grad_output.dtype)
    for o in range(O):
        first = o // (O // groups) * I
        for kh in range(KH):
            for kw in range(KW):
                for p in range(OH):
                    for q in range(OW):
                        h = p * stride[0] + kh * dilation[0] - padding[0][0]
                        w = q * stride[1] + kw * dilation[1] - padding[1][0]
                        if 0 <= h < H and 0 <= w < W:
                            dx[:, first:first + I, h, w] += grad_output[:, o, p, q][:, None] * weight[o, :, kh, kw]
    return dx

def grad_weight(grad_output, input, weight_size, *, stride, padding, dilation, groups):
    O, I, KH, KW = weight_size
    N, C, H, W = input.shape
    OH, OW = grad_output.shape[2:]
    dw = np.zeros(weight_size, input.dtype)
    for o in range(O):
        first = o // (O // groups) * I
        for kh in range(KH):
            for kw in range(KW):
                for p in range(OH):
                    for q in range(OW):
                        h = p * stride[0] + kh * dilation[0] - padding[0][0]
                        w = q * stride[1] + kw * dilation[1] - padding[1][0]
                        if 0 <= h < H and 0 <= w < W:
                            dw[o, :, kh, kw] += (grad_output[:, o, p, q][:, None] * input[:, first:first + I, h, w]).sum(axis=0)
    return dw

def grad_bias(grad_output):
    return grad_output.sum(axis=(0, 2, 3))
'''

COMPOSED = IM2COL + '''
def dilated(x, step):
    big = np.zeros((*x.shape[:2], (x.shape[2] - 1) * step[0] + 1, (x.shape[3] - 1) * step[1] + 1), x.dtype)
    big[:, :, ::step[0], ::step[1]] = x
    return big

def window(x, padding):
    """From -lo to size + hi on a line that is zero outside."""
    (top, bottom), (left, right) = padding
    H, W = x.shape[2:]
    big = np.pad(x, ((0, 0), (0, 0), (60, 60), (60, 60)))
    return big[:, :, 60 - top:60 + H + bottom, 60 - left:60 + W + right]

def remainders(size, taps, stride, padding, dilation, out):
    return [i + lo + hi - d * (k - 1) - 1 - (o - 1) * s
            for i, k, s, (lo, hi), d, o in zip(size, taps, stride, padding, dilation, out)]

def spread(grad, weight, size, stride, padding, dilation, groups):
    taps = weight.shape[2:]
    r = remainders(size, taps, stride, padding, dilation, grad.shape[2:])
    K = [d * (k - 1) + 1 for k, d in zip(taps, dilation)]
    pads = [(e - 1 - lo, e - 1 - hi + rest) for e, (lo, hi), rest in zip(K, padding, r)]
    O, I = weight.shape[:2]
    turned = weight.reshape(groups, O // groups, I, *taps).swapaxes(1, 2).reshape(groups * I, O // groups, *taps)
    turned = turned[:, :, ::-1, ::-1]
    g = window(dilated(grad, stride), pads)
    return forward(g, np.ascontiguousarray(turned), None, stride=(1, 1), padding=((0, 0), (0, 0)), dilation=dilation, groups=groups)

def grad_input(grad_output, weight, input_size, *, stride, padding, dilation, groups):
    return spread(grad_output, weight, input_size[2:], stride, padding, dilation, groups)

def grad_weight(grad_output, input, weight_size, *, stride, padding, dilation, groups):
    O, I, KH, KW = weight_size
    N, C, H, W = input.shape
    r = remainders((H, W), (KH, KW), stride, padding, dilation, grad_output.shape[2:])
    x = window(input, [(lo, hi - rest) for (lo, hi), rest in zip(padding, r)])
    g = dilated(grad_output, stride)
    dw = np.zeros(weight_size, input.dtype)
    for group in range(groups):
        xs = x[:, group * I:(group + 1) * I].swapaxes(0, 1)
        gs = g[:, group * (O // groups):(group + 1) * (O // groups)].swapaxes(0, 1)
        result = forward(xs, np.ascontiguousarray(gs), None, stride=dilation, padding=((0, 0), (0, 0)), dilation=(1, 1), groups=1)
        dw[group * (O // groups):(group + 1) * (O // groups)] = result.swapaxes(0, 1)
    return dw

def grad_bias(grad_output):
    return grad_output.sum(axis=3).sum(axis=2).sum(axis=0)

def backward(grad_output, input, weight, *, stride, padding, dilation, groups):
    p = dict(stride=stride, padding=padding, dilation=dilation, groups=groups)
    return (grad_input(grad_output, weight, input.shape, **p),
            grad_weight(grad_output, input, weight.shape, **p), grad_bias(grad_output))

def transposed(input, weight, bias, *, stride, padding, output_padding, dilation, groups):
    size = [(o - 1) * s - lo - hi + d * (k - 1) + 1 + extra
            for o, s, (lo, hi), d, k, extra in zip(input.shape[2:], stride, padding, dilation, weight.shape[2:], output_padding)]
    y = spread(input, weight, size, stride, padding, dilation, groups)
    return y if bias is None else y + bias[:, None, None]
'''

KERNELS = {"taps": TAPS, "im2col": IM2COL, "tiled": TILED, "scatter": SCATTER, "composed": COMPOSED}


def build(kernel, changes=(), parts=None):
    """The kernel as an object, with some of its text changed; only some of its parts, if so asked."""
    text = KERNELS[kernel]
    for old, new in changes:
        if old not in text:
            raise ValueError(f"{kernel} has no {old!r}")
        text = text.replace(old, new)
    scope = {}
    exec(compile(text, kernel, "exec"), scope)
    names = parts or ("forward", "grad_input", "grad_weight", "grad_bias", "transposed")
    return type(kernel, (), {name: staticmethod(scope[name]) for name in names if name in scope})
