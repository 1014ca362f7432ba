"""A student's right answers to the exercises, in loops; the tests put classic mistakes into it."""

import numpy as np


def pad(x, padding):
    for axis, (lo, hi) in enumerate(padding, start=2):
        line = np.zeros((*x.shape[:axis], max(x.shape[axis] + lo + hi, 0), *x.shape[axis + 1 :]), x.dtype)
        for place in range(line.shape[axis]):
            if 0 <= place - lo < x.shape[axis]:
                at = (slice(None),) * axis
                line[(*at, place)] = x[(*at, place - lo)]
        x = line
    return x


def spread(x, stride):
    sizes = [s * (n - 1) + 1 for s, n in zip(stride, x.shape[2:])]
    wide = np.zeros((*x.shape[:2], *sizes), x.dtype)
    wide[:, :, :: stride[0], :: stride[1]] = x
    return wide


def forward(input, weight, bias, *, stride, padding, dilation, groups):
    if groups != 1:
        raise NotImplementedError("one group only")
    x = pad(input, padding)
    K = [d * (k - 1) + 1 for d, k in zip(dilation, weight.shape[2:])]
    OH, OW = [(n - k) // s + 1 for n, k, s in zip(x.shape[2:], K, stride)]
    output = np.zeros((x.shape[0], weight.shape[0], OH, OW), input.dtype)
    for r in range(OH):
        for c in range(OW):
            window = x[:, :, r * stride[0] :, c * stride[1] :][
                :, :, : K[0] : dilation[0], : K[1] : dilation[1]
            ]
            output[:, :, r, c] = (window[:, None] * weight[None]).sum(axis=(2, 3, 4))
    return output if bias is None else output + bias.reshape(1, -1, 1, 1)


def remainders(input_size, grad_output, K, stride, padding):
    sizes = zip(input_size[2:], grad_output.shape[2:], K, stride, padding)
    return [i + lo + hi - k - s * (o - 1) for i, o, k, s, (lo, hi) in sizes]


def grad_input(grad_output, weight, input_size, *, stride, padding, dilation, groups):
    if groups != 1:
        raise NotImplementedError("one group only")
    K = [d * (k - 1) + 1 for d, k in zip(dilation, weight.shape[2:])]
    r = remainders(input_size, grad_output, K, stride, padding)
    around = [(k - 1 - lo, k - 1 - hi + more) for k, (lo, hi), more in zip(K, padding, r)]
    turned = weight.swapaxes(0, 1)[:, :, ::-1, ::-1]
    ones = (1, 1)
    return forward(
        spread(grad_output, stride), turned, None, stride=ones, padding=around, dilation=dilation, groups=1
    )


def grad_weight(grad_output, input, weight_size, *, stride, padding, dilation, groups):
    if groups != 1:
        raise NotImplementedError("one group only")
    K = [d * (k - 1) + 1 for d, k in zip(dilation, weight_size[2:])]
    r = remainders(input.shape, grad_output, K, stride, padding)
    around = [(lo, hi - less) for (lo, hi), less in zip(padding, r)]
    x, g = input.swapaxes(0, 1), grad_output.swapaxes(0, 1)
    return forward(x, g, None, stride=dilation, padding=around, dilation=stride, groups=1).swapaxes(0, 1)


def grad_bias(grad_output):
    return grad_output.sum(axis=(0, 2, 3))
