/** Builtins that are best written in jq itself. They see each other and the builtins in TypeScript. */
export const PRELUDE = `
def map(f): [.[] | f];
def with_entries(f): to_entries | map(f) | from_entries;
def recurse(f; keep): recurse(f | select(keep));
def first: .[0];
def last: .[-1];
def nth($n): .[$n];
def in(container): . as $key | container | has($key);
def inside(whole): . as $part | whole | contains($part);

def nulls: select(. == null);
def values: select(. != null);
def booleans: select(type == "boolean");
def numbers: select(type == "number");
def strings: select(type == "string");
def arrays: select(type == "array");
def objects: select(type == "object");
def iterables: arrays, objects;
def scalars: select(type | . != "array" and . != "object");
def isfinite: type == "number" and (isinfinite | not);
def finites: select(isfinite);
def normals: select(isnormal);

def any(items; f): isempty(first(items | f | select(.))) | not;
def any(f): any(.[]; f);
def any: any(.[]; .);
def all(items; f): isempty(first(items | f | select(. | not)));
def all(f): all(.[]; f);
def all: all(.[]; .);

def paths: path(..) | select(. != []);
def paths(f): path(.. | select(f)) | select(. != []);
def leaf_paths: paths(scalars);
def pick(places): . as $whole | reduce path(places) as $place (null; setpath($place; $whole | getpath($place)));
def walk(f): def inner: (if type == "array" or type == "object" then map_values(inner) else . end) | f; inner;

def combinations:
  if length == 0 then []
  else . as $sets | $sets[0][] as $head | ($sets[1:] | combinations) as $tail | [$head] + $tail
  end;
def combinations($n): . as $set | [range($n) | $set] | combinations;

def INDEX(rows; key): reduce rows as $row ({}; . + {($row | key | tostring): $row});
def INDEX(key): INDEX(.[]; key);
def IN(items): . as $wanted | any(items; . == $wanted);
def IN(items; wanted): any(items | . == wanted; .);
def JOIN($index; key): [.[] | [., $index[key]]];
def JOIN($index; rows; key): rows | [., $index[key]];
def JOIN($index; rows; key; joined): rows | [., $index[key]] | joined;

def splits($regex): splits($regex; null);
def scan($regex): scan($regex; null);
def todateiso8601: strftime("%Y-%m-%dT%H:%M:%SZ");
def fromdateiso8601: strptime("%Y-%m-%dT%H:%M:%SZ") | mktime;
def todate: todateiso8601;
def fromdate: fromdateiso8601;
`;
