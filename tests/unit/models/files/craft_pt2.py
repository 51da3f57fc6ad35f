"""Exported programs with something changed: by hand, and at random by a seed."""

import copy
import io
import json
import random
import warnings
import zipfile

import torch

GRAPH = "archive/models/model.json"
WEIGHTS = "archive/data/weights/model_weights_config.json"
GRAD_MODE = "torch.ops.higher_order.wrap_with_set_grad_enabled"


def exported(module, example, *, decomposed=False, dynamic=True):
    """The bytes of a program, as torch.export.save writes them."""
    shapes = ({0: torch.export.Dim.AUTO},) if dynamic else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of its own ways while it exports
        program = torch.export.export(module, (example,), dynamic_shapes=shapes)
        if decomposed:
            program = program.run_decompositions()
        held = io.BytesIO()
        torch.export.save(program, held)
    return held.getvalue()


def members_of(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(members, how=zipfile.ZIP_STORED):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", how) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return held.getvalue()


def with_json(content, change, member=GRAPH):
    """The same archive with one of its JSON members changed in place."""
    members = members_of(content)
    record = json.loads(members[member])
    change(record)
    members[member] = json.dumps(record).encode()
    return packed(members)


def graph_of(program):
    return program["graph_module"]["graph"]


def named(name):
    return {"as_tensor": {"name": name}}


def node(target, arguments, output="extra"):
    """A step as torch writes it; arguments are (name, value) or values alone."""
    pairs = [a if isinstance(a, tuple) else ("", a) for a in arguments]
    inputs = [{"name": name, "arg": value, "kind": 1} for name, value in pairs]
    outputs = [named(output)] if isinstance(output, str) else output
    return {"target": target, "inputs": inputs, "outputs": outputs, "metadata": {}, "name": "n"}


def with_steps(content, *steps, answer=None):
    """The same program with steps before all others, and with another answer."""

    def change(program):
        graph = graph_of(program)
        graph["nodes"][:0] = steps
        if answer:
            graph["outputs"] = [named(answer)]
            program["graph_module"]["signature"]["output_specs"] = [
                {"user_output": {"arg": named(answer)}}
            ]

    return with_json(content, change)


# --- at random ---------------------------------------------------------------------------------

NUMBERS = [0, -1, 1, 2**31, 2**62, 2**63 - 1, -(2**63), 2**64, 10**40, 1e308, -0.0, 0.5, True, None]
TEXTS = [
    *("", "x", "input", "cpu", "cuda:0", "meta", "__class__", "torch.os.system", "/etc/passwd"),
    *("torch.version.__file__", "Integer(9)**9**9**9", "__import__('os').mkdir('bitten')"),
]
KINDS = [
    *("as_none", "as_tensor", "as_tensors", "as_int", "as_ints", "as_float", "as_floats"),
    *("as_string", "as_strings", "as_sym_int", "as_sym_ints", "as_scalar_type", "as_operator"),
    *("as_memory_format", "as_layout", "as_device", "as_bool", "as_bools", "as_graph"),
    *("as_custom_obj", "as_optional_tensors", "as_complex", "as_nested_tensors", "as_sym_bool"),
    *("as_int_lists", "as_string_to_argument", "as_unknown"),
]


def all_targets():
    """Every operation that torch has, and names below torch that are none."""
    found = ["torch.os.system", "torch.load", "torch.ops.load_library", "_operator.methodcaller"]
    found += ["torch.hub.load", "torch.ops.aten.__class__", "math.__loader__", "torch.save"]
    for name in torch._C._dispatch_get_all_op_names():
        space, _, rest = name.partition("::")
        packet, _, overload = rest.partition(".")
        found.append(f"torch.ops.{space}.{packet}.{overload or 'default'}")
    return sorted(found)


def mutated(content, generator, targets):
    """One to three random changes of the graph, the weights' records, or the bytes."""
    members = members_of(content)
    for _ in range(generator.randint(1, 3)):
        name = generator.choice([GRAPH] * 6 + [WEIGHTS] * 2 + list(members))
        if name.endswith(".json"):
            record = json.loads(members[name])
            _change(record, generator, targets)
            members[name] = json.dumps(record).encode()
        else:
            members[name] = _damage(members[name], generator)
    return packed(members)


def _damage(content, generator):
    changed = bytearray(content)
    if changed and generator.random() < 0.7:
        changed[generator.randrange(len(changed))] ^= 1 << generator.randrange(8)
        return bytes(changed)
    return bytes(changed[: generator.randrange(len(changed) + 1)])


def _change(record, generator, targets):
    """Change one place below a record."""
    places = list(_places(record))
    if not places:
        return
    holder, key = generator.choice(places)
    nodes = [h for h, k in places if k == "target"]
    kind = generator.random()
    if nodes and kind < 0.3:
        generator.choice(nodes)["target"] = generator.choice(targets)
    elif kind < 0.45:
        holder[key] = generator.choice(NUMBERS)
    elif kind < 0.55:
        holder[key] = generator.choice(TEXTS)
    elif kind < 0.65:
        holder[key] = {generator.choice(KINDS): copy.deepcopy(holder[key])}
    elif kind < 0.75:
        holder[key] = copy.deepcopy(_at(*generator.choice(places)))
    elif kind < 0.85 and isinstance(holder, dict):
        holder[generator.choice(KINDS)] = holder.pop(key)
    elif kind < 0.92:
        del holder[key]
    else:
        holder[key] = _nested(generator)


def _places(record):
    items = record.items() if isinstance(record, dict) else enumerate(record)
    for key, value in items:
        if key != "metadata":
            yield record, key
            if isinstance(value, (dict, list)):
                yield from _places(value)


def _at(holder, key):
    return holder[key]


def _nested(generator):
    found = []
    for _ in range(generator.choice([3, 50, 400])):
        found = [found]
    return found


def generator_of(seed):
    return random.Random(seed)  # noqa: S311 - a seed, not a secret
