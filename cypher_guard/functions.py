"""The functions that the guard knows: arguments, result, and whether they aggregate.

A signature reads `name(argument, …) result`; an argument may end in `?` (optional) or `...` (any number).
Kinds of argument are those of value_types.ACCEPTS. Results beyond plain kinds: `item` of the first argument's
list, `same` as the first argument, `join` of all, `list<item>` of the first argument.

Left out on purpose: reduce and range (work without bound), load and graph functions, shortestPath, rand and
randomUUID (answers that cannot be repeated), repeat and padding (strings without bound).
"""

from dataclasses import dataclass

_SIGNATURES = """
abs(number) same
acos(number) float
asin(number) float
atan(number) float
atan2(number, number) float
ceil(number) float
cos(number) float
cot(number) float
degrees(number) float
e() float
exp(number) float
floor(number) float
haversin(number) float
isNaN(number) boolean
log(number) float
log10(number) float
pi() float
radians(number) float
round(number, integer?, string?) float
sign(number) integer
sin(number) float
sqrt(number) float
tan(number) float
btrim(string, string?) string
char_length(string) integer
character_length(string) integer
left(string, integer) string
lower(string) string
ltrim(string, string?) string
replace(short string, string, short string) string
right(string, integer) string
rtrim(string, string?) string
split(string, string) list<string>
substring(string, integer, integer?) string
toLower(string) string
toUpper(string) string
trim(string) string
upper(string) string
toString(scalar) string
toStringOrNull(any) string
toInteger(convertible) integer
toIntegerOrNull(any) integer
toFloat(numeric) float
toFloatOrNull(any) float
toBoolean(truth) boolean
toBooleanOrNull(any) boolean
toStringList(list) list<string>
toIntegerList(list) list<integer>
toFloatList(list) list<float>
toBooleanList(list) list<boolean>
coalesce(any...) join
nullIf(any, any) same
isEmpty(sized) boolean
size(counted) integer
valueType(any) string
head(list) item
last(list) item
tail(list) same
reverse(counted) same
elementId(entity) string
endNode(relationship) node
startNode(relationship) node
keys(keyed) list<string>
labels(node) list<string>
length(path) integer
nodes(path) list<node>
properties(keyed) map
relationships(path) list<relationship>
type(relationship) string
date(any?) temporal
datetime(any?) temporal
localdatetime(any?) temporal
localtime(any?) temporal
time(any?) temporal
duration(any) duration
date.truncate(string, any?, map?) temporal
datetime.truncate(string, any?, map?) temporal
localdatetime.truncate(string, any?, map?) temporal
localtime.truncate(string, any?, map?) temporal
time.truncate(string, any?, map?) temporal
datetime.fromEpoch(number, number) temporal
datetime.fromEpochMillis(number) temporal
duration.between(any, any) duration
duration.inDays(any, any) duration
duration.inMonths(any, any) duration
duration.inSeconds(any, any) duration
point(map) point
point.distance(any, any) float
point.withinBBox(any, any, any) boolean
vector.similarity.cosine(any, any) float
vector.similarity.euclidean(any, any) float
"""

_AGGREGATES = """
avg(summable) any
collect(anything) list<item>
count(anything) integer
max(anything) same
min(anything) same
percentileCont(number, number) float
percentileDisc(number, number) any
stDev(number) float
stDevP(number) float
sum(summable) any
"""


@dataclass(frozen=True, slots=True)
class Function:
    """name as rendered; arguments as kinds; required of them; repeats: the last may stand any number of times."""

    name: str
    arguments: tuple[str, ...]
    required: int
    repeats: bool
    result: str
    aggregate: bool

    def accepts(self, count: int) -> bool:
        """Whether this many arguments may be given."""
        return count >= self.required and (self.repeats or count <= len(self.arguments))


def _read_signature(line: str, *, aggregate: bool) -> Function:
    name, rest = line.split("(", 1)
    inside, result = rest.split(")", 1)
    arguments = [argument.strip() for argument in inside.split(",") if argument.strip()]
    return Function(
        name=name,
        arguments=tuple(argument.rstrip("?.") for argument in arguments),
        required=sum(not argument.endswith("?") for argument in arguments),
        repeats=inside.endswith("..."),
        result=result.strip(),
        aggregate=aggregate,
    )


FUNCTIONS: dict[str, Function] = {
    function.name.lower(): function
    for signatures, aggregate in ((_SIGNATURES, False), (_AGGREGATES, True))
    for function in (_read_signature(line, aggregate=aggregate) for line in signatures.split("\n") if line)
}
FUNCTION_NAMES = frozenset(function.name for function in FUNCTIONS.values())
