"""A dozen lines a framework: what each needs to be a candidate."""

import numpy as np


class Jax:
    """jax.lax's general convolution, and jax.vjp for the gradients."""

    @staticmethod
    def forward(input, weight, bias, *, stride, padding, dilation, groups):
        import jax

        y = jax.lax.conv_general_dilated(
            input,
            weight,
            stride,
            padding,
            rhs_dilation=dilation,
            feature_group_count=groups,
            precision="highest",
        )
        return np.array(y if bias is None else y + bias[:, None, None])

    @staticmethod
    def backward(grad_output, input, weight, *, stride, padding, dilation, groups):
        import jax

        def conv(x, w):
            return jax.lax.conv_general_dilated(
                x, w, stride, padding, rhs_dilation=dilation, feature_group_count=groups, precision="highest"
            )

        _, pullback = jax.vjp(conv, input, weight)
        return *map(np.array, pullback(grad_output)), np.array(jax.numpy.sum(grad_output, (0, 2, 3)))


class OnnxRuntime:
    """ONNX Conv and ConvTranspose on the CPU."""

    @staticmethod
    def run(op, arrays, attributes):
        import onnxruntime
        from onnx import helper
        from onnxruntime.capi.onnxruntime_pybind11_state import InvalidArgument

        arrays = {name: a for name, a in arrays.items() if a is not None}
        kind = helper.np_dtype_to_tensor_dtype(arrays["x"].dtype)
        node = helper.make_node(op, list(arrays), ["y"], **attributes)
        inputs = [helper.make_tensor_value_info(name, kind, a.shape) for name, a in arrays.items()]
        outputs = [helper.make_tensor_value_info("y", kind, None)]
        model = helper.make_model(
            helper.make_graph([node], "g", inputs, outputs),
            opset_imports=[helper.make_opsetid("", 18)],
            ir_version=9,
        )
        options = onnxruntime.SessionOptions()
        options.log_severity_level, options.intra_op_num_threads = 4, 1
        try:
            session = onnxruntime.InferenceSession(
                model.SerializeToString(), options, ["CPUExecutionProvider"]
            )
            return session.run(None, arrays)[0]
        except InvalidArgument as error:
            raise NotImplementedError(str(error)[-160:]) from None

    @staticmethod
    def attributes(stride, padding, dilation, groups, **more):
        if any(end < 0 for pair in padding for end in pair):
            raise NotImplementedError("negative padding")
        pads = [lo for lo, _ in padding] + [hi for _, hi in padding]
        return dict(strides=stride, pads=pads, dilations=dilation, group=groups, **more)

    @staticmethod
    def forward(input, weight, bias, **p):
        return OnnxRuntime.run("Conv", dict(x=input, w=weight, b=bias), OnnxRuntime.attributes(**p))

    @staticmethod
    def transposed(input, weight, bias, *, output_padding, **p):
        attributes = OnnxRuntime.attributes(**p, output_padding=output_padding)
        return OnnxRuntime.run("ConvTranspose", dict(x=input, w=weight, b=bias), attributes)


class OpenVino:
    """OpenVINO's convolutions on the CPU, in float32."""

    @staticmethod
    def run(op, input, weight, bias, stride, padding, dilation, groups, **more):
        import openvino
        from openvino import opset13

        if any(end < 0 for pair in padding for end in pair):
            raise NotImplementedError("negative padding")
        los, his = ([pair[end] for pair in padding] for end in (0, 1))
        x, w = (opset13.parameter(a.shape, np.float32) for a in (input, weight))
        more |= dict(strides=list(stride), pads_begin=los, pads_end=his, dilations=list(dilation))
        if groups == 1:
            node = getattr(opset13, op)(x, w, **more)
        else:
            split = opset13.reshape(w, [groups, len(weight) // groups, *weight.shape[1:]], False)
            node = getattr(opset13, "group_" + op)(x, split, **more)
        model = openvino.Model([node], [x, w])
        core = OpenVino.core = getattr(OpenVino, "core", None) or openvino.Core()
        precise = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
        y = core.compile_model(model, "CPU", precise)([input, weight])[0]
        return y.copy() if bias is None else y + bias[:, None, None]

    @staticmethod
    def forward(input, weight, bias, *, stride, padding, dilation, groups):
        return OpenVino.run("convolution", input, weight, bias, stride, padding, dilation, groups)

    @staticmethod
    def transposed(input, weight, bias, *, stride, padding, output_padding, dilation, groups):
        more = dict(output_padding=list(output_padding))
        return OpenVino.run(
            "convolution_backprop_data", input, weight, bias, stride, padding, dilation, groups, **more
        )


class Mlx:
    """Apple's mlx, on the CPU; NHWC and OHWI."""

    declared = {"layout": "NHWC", "weight_layout": "OHWI"}

    @staticmethod
    def conv(x, w, stride, padding, dilation, groups):
        import mlx.core as mx

        los, his = ([pair[end] for pair in padding] for end in (0, 1))
        return mx.conv_general(x, w, list(stride), (los, his), list(dilation), groups=groups)

    @staticmethod
    def forward(input, weight, bias, *, stride, padding, dilation, groups):
        import mlx.core as mx

        y = Mlx.conv(mx.array(input), mx.array(weight), stride, padding, dilation, groups)
        return np.array(y if bias is None else y + mx.array(bias))

    @staticmethod
    def backward(grad_output, input, weight, *, stride, padding, dilation, groups):
        import mlx.core as mx

        x, w, g = map(mx.array, (input, weight, grad_output))
        _, (dx, dw) = mx.vjp(lambda a, b: Mlx.conv(a, b, stride, padding, dilation, groups), [x, w], [g])
        return np.array(dx), np.array(dw), np.array(g.sum(axis=(0, 1, 2)))
