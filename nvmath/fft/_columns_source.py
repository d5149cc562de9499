"""CUDA C++ of a transform along columns, several columns a block, with the user's callbacks inlined.

One :class:`Recipe` fixes every index: who loads, exchanges and stores what. The source text and the emulation in the
tests are both made from it.

The transform is decimation in frequency. A stage of radix r does ``rest`` = N/r butterflies on every group of N
remaining points: butterfly j reads points ``j + k N/r``; its digit d is multiplied by ``w_N^(j d)`` and belongs to a
group of N/r points from then on. `rho` is the number that the digits so far make, the least significant first: after
the last stage it is the frequency.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product
from math import cos, pi, prod, sin
from typing import Final, NamedTuple

_WARP: Final = 32
_BANKS: Final = 32


class Butterfly(NamedTuple):
    """A transform of `radix` registers in place: its operations, and which register holds which digit afterwards."""

    operations: tuple[tuple[int, ...], ...]  # (a, b): a, b = a + b, a - b; (a, k, m): a *= w_m^k
    digits: tuple[int, ...]


@cache
def butterfly(radix: int) -> Butterfly:
    """Build a butterfly of radix 2, 4, 8 or 16 out of radices 4 and 2."""
    operations: list[tuple[int, ...]] = []

    def transform(registers: tuple[int, ...]) -> tuple[int, ...]:
        count = len(registers)
        if count == 1:
            return registers
        if count == 2:
            operations.append(registers)
            return registers
        radix, rest = 4, count // 4
        if count == 8:
            radix, rest = 2, 4
        columns = [registers[j::rest] for j in range(rest)]
        if count == 4:
            a, b, c, d = registers
            operations.extend(((a, c), (b, d), (d, 1, 4), (a, b), (c, d)))
            return a, c, b, d
        columns = [transform(column) for column in columns]
        operations.extend((columns[j][d], j * d, count) for d, j in product(range(1, radix), range(1, rest)))
        blocks = [transform(tuple(columns[j][d] for j in range(rest))) for d in range(radix)]
        return tuple(blocks[m % radix][m // radix] for m in range(count))

    digits = transform(tuple(range(radix)))
    return Butterfly(tuple(operations), digits)


class Stage(NamedTuple):
    """A stage as one thread sees it, in expressions of ``t`` (thread of a column) and ``rank`` (block of a cluster)."""

    radix: int
    size: int  # remaining points N
    rest: int  # N / radix
    done: int  # extent of rho in one block
    j: str  # j of butterfly q: this and j_steps[q]
    j_steps: tuple[int, ...]
    rho: str  # rho in the block of butterfly q: this and rho_steps[q]
    rho_steps: tuple[int, ...]
    factors: int  # where the twiddle factors of the stage start in the table
    width: int  # how many of them a digit has
    factor: str  # which one belongs to digit 1 of butterfly q: this and factor_steps[q]
    factor_steps: tuple[int, ...]

    @property
    def butterflies(self) -> int:
        """How many butterflies a thread has."""
        return len(self.j_steps)

    def register(self, q: int, k: int) -> int:
        """Where point k of butterfly q is."""
        return q + self.butterflies * k


class Exchange(NamedTuple):
    """The layout in which points go from one stage to the next through shared memory, in points of one column."""

    by_rho: bool  # whether rho is the slow index
    pitch: int  # of the slow index
    extent: int

    def at(self, rho: int, j: int) -> int:
        """Address of a point."""
        return rho * self.pitch + j if self.by_rho else j * self.pitch + rho

    def text(self, rho: str, j: str) -> str:
        """Address of a point, as an expression."""
        slow, fast = (rho, j) if self.by_rho else (j, rho)
        return fast if slow == "0" else f"({slow} * {self.pitch} + {fast})"


@dataclass(frozen=True, slots=True)
class Recipe:
    """How columns of one length are transformed.

    Attributes
    ----------
    length
        Points of a column, a power of two.
    columns
        How many a block, or a cluster of blocks, transforms at a time.
    radices
        Of the stages, in order; their product is the length.
    double
        Double precision.
    points
        Of a thread.
    cluster
        How many blocks share the columns; they exchange points once, after the first stage.
    """

    length: int
    columns: int
    radices: tuple[int, ...]
    double: bool = False
    points: int = 16
    cluster: int = 1

    def __post_init__(self) -> None:
        fitting = all(self.points % radix == 0 for radix in self.radices)
        if prod(self.radices) != self.length or len(self.radices) < 2 or not fitting:
            raise ValueError(f"The radices {self.radices} do not make {self.length} points.")
        if self.cluster > 1 and (self.radices[0] % self.cluster or self.lanes % (self.radices[0] // self.cluster)):
            raise ValueError(f"{self.cluster} blocks cannot share columns of {self.length} points.")

    @property
    def lanes(self) -> int:
        """Threads of a column in one block."""
        return self.length // self.cluster // self.points

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.lanes * self.columns

    @property
    def itemsize(self) -> int:
        """Bytes of a point."""
        return 16 if self.double else 8

    @property
    def blocks(self) -> int:
        """How many blocks a multiprocessor shall hold: 4 registers of 4 bytes for every one that holds data."""
        return max(1, (8192 if self.double else 16384) // (self.threads * self.points))

    @property
    def first_step(self) -> int:
        """Distance of the rows that a thread loads."""
        return self.length // self.points

    @property
    def first_row(self) -> str:
        """The first row that a thread loads."""
        return "t" if self.cluster == 1 else f"(rank * {self.lanes} + t)"

    @property
    def last_row(self) -> str:
        """The first row that a thread stores."""
        if self.cluster == 1:
            return "t"
        share = self.radices[0] // self.cluster
        return f"(rank * {share} + t % {share} + t / {share} * {self.radices[0]})"

    def last_rows(self, q: int) -> list[tuple[int, int]]:
        """The rows that a thread stores from the last stage's butterfly q: (register, distance from the first row)."""
        last = self.stages()[-1]
        digits = butterfly(last.radix).digits
        return [
            (last.register(q, digits[d]), self.lanes * q * self.cluster + self.length // last.radix * d)
            for d in range(last.radix)
        ]

    def stages(self) -> list[Stage]:
        """All stages in order."""
        return list(_stages(self))

    def exchanges(self) -> list[Exchange]:
        """The layouts between the stages."""
        return list(_exchanges(self))

    @property
    def data_extent(self) -> int:
        """Points of one column that the exchanges need."""
        return max(exchange.extent for exchange in self.exchanges())

    @property
    def table_extent(self) -> int:
        """Twiddle factors."""
        return sum(stage.width * (stage.radix - 1) for stage in self.stages())

    @property
    def shared_nbytes(self) -> int:
        """Shared memory of a block."""
        return (self.data_extent * self.columns + self.table_extent) * self.itemsize

    def written(self, e: int, q: int, d: int) -> tuple[int, int]:
        """Where exchange e gets digit d of butterfly q: (block of the cluster, distance from the thread's address)."""
        stage, exchange = self.stages()[e], self.exchanges()[e]
        owner, rho = divmod(d, self.radices[0] // self.cluster) if e == 0 else (0, stage.rho_steps[q] + stage.done * d)
        return owner, exchange.at(rho, stage.j_steps[q])

    def read(self, e: int, q: int, k: int) -> int:
        """Where exchange e has point k of butterfly q of the next stage: distance from the thread's first address."""
        stage, exchange = self.stages()[e + 1], self.exchanges()[e]
        return exchange.at(stage.rho_steps[q], stage.j_steps[q] + stage.rest * k)

    def turns(self, s: int) -> str:
        """The exponent of twiddle factor ``i`` of stage s: the product of j and the digit."""
        stage = self.stages()[s]
        j = f"i % {stage.width}"
        if s == 0 and stage.width != self.lanes:
            j = f"{j} % {self.lanes} + {j} / {self.lanes} * {self.first_step}"
        if s == 0 and self.cluster > 1:
            j = f"{j} + rank * {self.lanes}"
        return f"({j}) * (i / {stage.width} + 1)"

    def conflicts(self, exchange: Exchange, e: int) -> int:
        """How many more cycles than needed the accesses of one warp to an exchange take, all its registers together."""
        before, after = self.stages()[e], self.stages()[e + 1]
        extra = 0
        for stage in (before, after):
            pieces: list[int] = []
            for thread in range(min(_WARP, self.threads)):
                names = {"t": thread // self.columns, "rank": 0}
                rho, j = eval(stage.rho, names), eval(stage.j, names)  # our own arithmetic expressions
                pieces.append(exchange.at(rho, j) * self.columns + thread % self.columns)
            extra += self.points * _extra_cycles(pieces, self.itemsize)
        return extra


def _extra_cycles(addresses: list[int], itemsize: int) -> int:
    """Cycles beyond the first that every group of threads needs that could get its data in one."""
    words, extra = itemsize // 4, 0
    group = _BANKS // words
    for start in range(0, len(addresses), group):
        banks: dict[int, set[int]] = {}
        for address in addresses[start : start + group]:
            for word in range(address * words, (address + 1) * words):
                banks.setdefault(word % _BANKS, set()).add(word)
        extra += max(map(len, banks.values())) - 1
    return extra


@cache
def _stages(recipe: Recipe) -> tuple[Stage, ...]:
    result: list[Stage] = []
    size, factors, lanes = recipe.length, 0, recipe.lanes
    share = recipe.length // recipe.cluster
    for s, radix in enumerate(recipe.radices):
        rest, count = size // radix, range(recipe.points // radix)
        j, j_steps = recipe.first_row, tuple(recipe.first_step * q for q in count)
        rho, rho_steps = "0", (0,) * len(count)
        width, factor, factor_steps = share // radix, "t", tuple(lanes * q for q in count)
        if s > 0 and rest <= lanes:
            j, rho = f"(t & {rest - 1})" if rest > 1 else "0", f"(t >> {rest.bit_length() - 1})" if rest > 1 else "t"
            j_steps, rho_steps = (0,) * len(count), tuple(lanes // rest * q for q in count)
        elif s > 0:
            j_steps = tuple(lanes * (q % (rest // lanes)) for q in count)
            rho_steps = tuple(q // (rest // lanes) for q in count)
            j = "t"
        if s > 0:
            width, factor, factor_steps = rest, j, j_steps
        if s == len(recipe.radices) - 1:
            width = 0
        done = 1 if s == 0 else share // size
        result.append(Stage(radix, size, rest, done, j, j_steps, rho, rho_steps, factors, width, factor, factor_steps))
        factors += width * (radix - 1)
        size = rest
    return tuple(result)


@cache
def _exchanges(recipe: Recipe) -> tuple[Exchange, ...]:
    """The layouts with the fewest bank conflicts, and of these the smallest."""
    result: list[Exchange] = []
    share = recipe.length // recipe.cluster
    for e, stage in enumerate(_stages(recipe)[:-1]):
        points, rho = stage.rest, share // stage.rest
        found = [
            Exchange(by_rho, fast + pad, slow * (fast + pad))
            for by_rho, fast, slow in ((True, points, rho), (False, rho, points))
            for pad in range(9)
        ]
        result.append(min(found, key=lambda exchange: (recipe.conflicts(exchange, e), exchange.extent)))
    return tuple(result)


_HEAD: Final = """
struct Geometry {
    long long in_row, in_outer, out_row, out_outer;
    unsigned columns, tiles_of_outer, tiles;
};

__device__ __forceinline__ void pair(T& a, T& b) {
    const T sum = {a.x + b.x, a.y + b.y};
    b = {a.x - b.x, a.y - b.y};
    a = sum;
}
__device__ __forceinline__ void turn(T& a, T w) { a = {a.x * w.x - a.y * w.y, a.x * w.y + a.y * w.x}; }
__device__ __forceinline__ void turn_left(T& a) { a = {-a.y, a.x}; }
__device__ __forceinline__ void turn_right(T& a) { a = {a.y, -a.x}; }
"""

_CLUSTER: Final = """
__device__ __forceinline__ unsigned rank_in_cluster() {
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
__device__ __forceinline__ void arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
__device__ __forceinline__ void wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
__device__ __forceinline__ unsigned mapped(const void* here, unsigned rank) {
    unsigned at;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"((unsigned)__cvta_generic_to_shared(here)), "r"(rank));
    return at;
}
__device__ __forceinline__ void put(unsigned at, T value) {
    asm volatile("st.shared::cluster.v2.FLOAT [%0], {%1, %2};"
        :: "r"(at), "REGISTER"(value.x), "REGISTER"(value.y) : "memory");
}
"""

_LOAD: Final = "__device__ T cufftJITCallbackLoad{name}(void*, unsigned long long, void*, void*);"
_STORE: Final = "__device__ void cufftJITCallbackStore{name}(void*, unsigned long long, T, void*, void*);"


def source(recipe: Recipe, inverse: bool, prolog: bool, epilog: bool) -> str:
    """Write the kernel ``run(source, target, info of the prolog, info of the epilog, geometry)``.

    Blocks loop over tiles (a group of columns of one outer index). The twiddle factors are made once a block.

    The epilog's data is declared not to overlap the result: otherwise every load of it would wait for the store before.
    """
    real, vector, name = ("double", "double2", "DoubleComplex") if recipe.double else ("float", "float2", "Complex")
    lines = [f"typedef {real} real;", f"typedef {vector} T;", _HEAD]
    clustered = recipe.cluster > 1
    if clustered:
        ptx, constraint = ("f64", "d") if recipe.double else ("f32", "f")
        lines.append(_CLUSTER.replace("FLOAT", ptx).replace("REGISTER", constraint))
    load, store = "source[{at}]", "target[{at}] = {value};"
    if prolog:
        lines.append(_LOAD.replace("{name}", name))
        load = f"cufftJITCallbackLoad{name}((void*)source, {{at}}, load_info, nullptr)"
    if epilog:
        lines.append(_STORE.replace("{name}", name))
        store = f"cufftJITCallbackStore{name}(target, {{at}}, {{value}}, store_info, nullptr);"
    bounds = f"__launch_bounds__({recipe.threads}, {recipe.blocks})"
    cluster = f"__cluster_dims__({recipe.cluster}, 1, 1) " if clustered else ""
    lines.append(
        f'extern "C" __global__ void {cluster}{bounds}\n'
        "run(const T* source, T* target, void* __restrict__ load_info, void* __restrict__ store_info,\n"
        "    const Geometry g) {\n"
        "    extern __shared__ __align__(16) unsigned char memory[];\n"
        "    T* const data = (T*)memory;\n"
        f"    T* const table = data + {recipe.data_extent * recipe.columns};\n"
        f"    const unsigned column = threadIdx.x % {recipe.columns}, t = threadIdx.x / {recipe.columns};"
    )
    if clustered:
        lines.append("    const unsigned rank = rank_in_cluster();")
    lines += _table(recipe, inverse)
    if clustered:
        lines.append("    arrive();")
    first_tile, stride = "blockIdx.x", "gridDim.x"
    if clustered:
        first_tile, stride = f"{first_tile} / {recipe.cluster}", f"{stride} / {recipe.cluster}"
    lines += [
        f"    for (unsigned tile = {first_tile}; tile < g.tiles; tile += {stride}) {{",
        "        const unsigned outer = tile / g.tiles_of_outer;",
        f"        const unsigned at_column = (tile - outer * g.tiles_of_outer) * {recipe.columns} + column;",
        "        const bool live = at_column < g.columns;",
        f"        T v[{recipe.points}] = {{}};",
        "        if (live) {",
        f"            const long long from = outer * g.in_outer + at_column + {recipe.first_row} * g.in_row;",
    ]
    for i in range(recipe.points):
        at = f"from + {i * recipe.first_step} * g.in_row" if i else "from"
        lines.append(f"            v[{i}] = {load.format(at=at)};")
    lines.append("        }")
    for s, stage in enumerate(recipe.stages()[:-1]):
        for q in range(stage.butterflies):
            lines += _arithmetic(stage, q, inverse)
        lines += _exchange(recipe, s)
    last = recipe.stages()[-1]
    lines += [
        f"        {_from(recipe, len(recipe.radices) - 2)}",
        f"        const long long to = outer * g.out_outer + at_column + {recipe.last_row} * g.out_row;",
    ]
    for q in range(last.butterflies):
        lines += _read(recipe, len(recipe.radices) - 2, q)
        if clustered and q == last.butterflies - 1:
            lines.append("        arrive();")
        lines += _arithmetic(last, q, inverse)
        lines.append("        if (live) {")
        for register, distance in recipe.last_rows(q):
            at = f"to + {distance} * g.out_row" if distance else "to"
            lines.append(f"            {store.format(at=at, value=f'v[{register}]')}")
        lines.append("        }")
    lines.append("    }")
    if clustered:
        lines.append("    wait();")
    return "\n".join([*lines, "}", ""])


def _table(recipe: Recipe, inverse: bool) -> list[str]:
    """Make the twiddle factors."""
    lines = []
    function = "sincospi" if recipe.double else "sincospif"
    for s, stage in enumerate(recipe.stages()[:-1]):
        lines += [
            f"    for (unsigned i = threadIdx.x; i < {stage.width * (stage.radix - 1)}; i += {recipe.threads}) {{",
            f"        const unsigned turns = {recipe.turns(s)};",
            "        T w;",
            f"        {function}((real)turns * (real){2 / stage.size!r}, &w.y, &w.x);",
            f"        table[{stage.factors} + i] = {'w' if inverse else '{w.x, -w.y}'};",
            "    }",
        ]
    return lines


def _arithmetic(stage: Stage, q: int, inverse: bool) -> list[str]:
    """Compute one butterfly."""
    lines = []
    sign = 1 if inverse else -1
    for operation in butterfly(stage.radix).operations:
        a = f"v[{stage.register(q, operation[0])}]"
        if len(operation) == 2:
            lines.append(f"        pair({a}, v[{stage.register(q, operation[1])}]);")
            continue
        _, k, m = operation
        if 4 * k == m:
            lines.append(f"        turn_{'left' if inverse else 'right'}({a});")
        else:
            angle = sign * 2 * pi * k / m
            lines.append(f"        turn({a}, {{(real){cos(angle)!r}, (real){sin(angle)!r}}});")
    return lines


def _exchange(recipe: Recipe, e: int) -> list[str]:
    """Multiply by the twiddle factors, and give the points to the threads of the next stage."""
    stage, after, exchange = recipe.stages()[e], recipe.stages()[e + 1], recipe.exchanges()[e]
    digits = butterfly(stage.radix).digits
    shared = e == 0 and recipe.cluster > 1
    own = f"{exchange.text(stage.rho, stage.j)} * {recipe.columns} + column"
    lines = ["        wait();" if shared else "        __syncthreads();", "        {"]
    lines.append(f"            const T* const w = table + {stage.factors} + {stage.factor};")
    if shared:
        lines += [f"            const unsigned to{k} = mapped(data + {own}, {k});" for k in range(recipe.cluster)]
    else:
        lines.append(f"            T* const to = data + {own};")
    for q, d in product(range(stage.butterflies), range(stage.radix)):
        value = f"v[{stage.register(q, digits[d])}]"
        if d:
            lines.append(f"            turn({value}, w[{stage.width * (d - 1) + stage.factor_steps[q]}]);")
        owner, distance = recipe.written(e, q, d)
        if shared:
            lines.append(f"            put(to{owner} + {distance * recipe.columns * recipe.itemsize}, {value});")
        else:
            lines.append(f"            to[{distance * recipe.columns}] = {value};")
    lines += ["        }", "        arrive();\n        wait();" if shared else "        __syncthreads();"]
    if e < len(recipe.radices) - 2:
        lines += ["        {", f"        {_from(recipe, e)}"]
        for q in range(after.butterflies):
            lines += _read(recipe, e, q)
        lines.append("        }")
    return lines


def _from(recipe: Recipe, e: int) -> str:
    """Declare where a thread reads from an exchange."""
    after, exchange = recipe.stages()[e + 1], recipe.exchanges()[e]
    return f"const T* const from = data + {exchange.text(after.rho, after.j)} * {recipe.columns} + column;"


def _read(recipe: Recipe, e: int, q: int) -> list[str]:
    """Get the points of one butterfly from an exchange."""
    after, columns = recipe.stages()[e + 1], recipe.columns
    return [f"        v[{after.register(q, k)}] = from[{recipe.read(e, q, k) * columns}];" for k in range(after.radix)]
