"""The rest of an ONNX file once its weights are cut out, and where the weights come from. With these, tests can rebuild a
published model without the tools that exported it (rebuild.ts).

skeleton.py CT2 ONNX OUT     model.bin and the 8-bit graphs of whisper.py to OUT/*.skeleton.gz and OUT/recipe.json.gz

For each graph, a recipe states its hash. For each cut, it states the position (in the skeleton), the variable of CT2,
which of how many parts it holds, whether it is transposed, and, if it is rounded, its scale and zero point. It holds
the small JSON files unchanged.
needs: numpy onnx
"""
import gzip
import hashlib
import json
import sys

import numpy as np
import onnx
from importlib.machinery import SourceFileLoader
from onnx import numpy_helper

SMALLEST = 1000
SMALL_FILES = ["config.json", "generation_config.json", "preprocessor_config.json"]
GRAPHS = ["encoder_model.onnx", "decoder_model_merged.onnx"]


def tensors(graph):
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from tensors(attribute.g)
            if attribute.HasField("t"):
                yield attribute.t


def views(variables):
    """Every form that a variable may have in a graph."""
    for name, values in variables.items():
        if np.ndim(values) == 0:
            continue
        for count in (1, 2, 3):
            if values.shape[0] % count:
                continue
            for index, part in enumerate(np.split(values, count)):
                for turned in (False, True) if part.ndim == 2 else (False,):
                    view = part.T if turned else part
                    yield dict(variable=name, parts=count, part=index, turned=turned), view.astype(np.float32)


def rounded(values, scale, zero, kind):
    limits = np.iinfo(kind)
    return np.clip(np.rint(values / scale) + zero, limits.min, limits.max).astype(kind)


def origin(tensor, found, small):
    wanted = numpy_helper.to_array(tensor)
    base = tensor.name.removesuffix("_quantized")
    scale, zero = small.get(f"{base}_scale"), small.get(f"{base}_zero_point")
    for source, values in found:
        if values.shape != wanted.shape:
            continue
        if wanted.dtype == np.float32 and np.array_equal(values, wanted):
            return source
        if scale is not None and np.array_equal(rounded(values, scale, int(zero), wanted.dtype), wanted):
            signed = wanted.dtype == np.int8
            return {**source, "scale": float(scale), "zero": int(zero), "signed": signed}
    return None


def cut(path, found):
    with open(path, "rb") as file:
        content = file.read()
    every = list(tensors(onnx.load(path).graph))
    small = {one.name: numpy_helper.to_array(one) for one in every if len(one.raw_data) < SMALLEST}
    cuts, left = [], 0
    for tensor in every:
        raw = tensor.raw_data
        if len(raw) < SMALLEST:
            continue
        source, at = origin(tensor, found, small), content.find(raw)
        if source is None or content.find(raw, at + 1) >= 0:
            left += len(raw)
        else:
            cuts.append((at, len(raw), source))
    cuts.sort(key=lambda one: one[0])
    skeleton, inserts, done = b"", [], 0
    for at, size, source in cuts:
        skeleton += content[done:at]
        inserts.append({"at": len(skeleton), **source})
        done = at + size
    skeleton += content[done:]
    print(path, len(content), "in", len(cuts), "cuts;", left, "bytes not found;", len(skeleton), "left")
    return skeleton, {"sha256": hashlib.sha256(content).hexdigest(), "inserts": inserts}


def main(ct2, graphs, out):
    whisper = SourceFileLoader("whisper", __file__.replace("skeleton.py", "whisper.py")).load_module()
    found = list(views(whisper.read_ct2(f"{ct2}/model.bin")))
    recipe = {}
    for name in GRAPHS:
        skeleton, recipe[name] = cut(f"{graphs}/{name}", found)
        with gzip.GzipFile(f"{out}/{name}.skeleton.gz", "wb", 9, mtime=0) as file:
            file.write(skeleton)
    files = {name: json.load(open(f"{graphs}/{name}")) for name in SMALL_FILES}
    with gzip.GzipFile(f"{out}/recipe.json.gz", "wb", 9, mtime=0) as file:
        file.write(json.dumps({"graphs": recipe, "files": files}).encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
