/** The result of a function, or the message of its failure. */
type Outcome = {value: unknown} | {failure: string}

/** A function call with JSON arguments. */
export interface ConformanceCall {
  name: string
  args: readonly unknown[]
  outcome: Outcome
}

interface ConformanceCase {
  /** The functions and types that the calls need. */
  source: string
  calls: readonly ConformanceCall[]
  /** True if the generated TypeScript is correct but its types are too wide for strict mode. */
  isLoose?: boolean
}

const returns = (name: string, args: readonly unknown[], value: unknown): ConformanceCall => ({
  name,
  args,
  outcome: {value},
})
const fails = (name: string, args: readonly unknown[], failure: string): ConformanceCall => ({
  name,
  args,
  outcome: {failure},
})

const maxInt = Number.MAX_SAFE_INTEGER

/** Every construct of functions that need no database, with calls whose results are equal in every evaluator. */
export const conformanceCases: Readonly<Record<string, ConformanceCase>> = {
  'variants and match': {
    source: `type Shape =
    | Circle(r: float)
    | Square(side: int)
    | Empty
fn area(s: Shape) to float {
    return match s {
        Circle(r) => 3.0 * r * r
        Square(side) => 1.0 * side * side
        Empty => 0.0
    }
}
fn size(s: Shape) to str {
    match s {
        Circle(r) if r > 10.0 => return "large"
        Circle(_) => return "round"
        _ => { return "other" }
    }
}
fn twice(s: Shape) to Shape {
    return match s {
        Circle(r) => Circle(r * 2.0)
        Square(side) => Square { side: side * 2 }
        Empty => Empty
    }
}
fn word(n: int) to str {
    return match n { 0 => "zero", -1 => "minus one", _ => "many" }
}
fn answer(text: str, flag: bool) to int {
    return match (text, flag) { ("yes", true) => 1, ("yes", _) => 2, (_, false) => 3, _ => 4 }
}
`,
    calls: [
      returns('area', [{_tag: 'Circle', r: 2}], 12),
      returns('area', [{_tag: 'Square', side: 3}], 9),
      returns('area', [{_tag: 'Empty'}], 0),
      returns('size', [{_tag: 'Circle', r: 11}], 'large'),
      returns('size', [{_tag: 'Circle', r: 1}], 'round'),
      returns('size', [{_tag: 'Empty'}], 'other'),
      returns('twice', [{_tag: 'Circle', r: 1.5}], {_tag: 'Circle', r: 3}),
      returns('twice', [{_tag: 'Square', side: 2}], {_tag: 'Square', side: 4}),
      returns('twice', [{_tag: 'Empty'}], {_tag: 'Empty'}),
      returns('word', [0], 'zero'),
      returns('word', [-1], 'minus one'),
      returns('word', [5], 'many'),
      returns('answer', ['yes', true], 1),
      returns('answer', ['yes', false], 2),
      returns('answer', ['no', false], 3),
      returns('answer', ['no', true], 4),
    ],
  },
  loops: {
    source: `fn sum(items: List[int]) to int {
    let mut total = 0
    for item in items {
        if item < 0 { continue }
        total += item
    }
    return total
}
fn places(items: List[str]) to str {
    let mut text = ""
    for item, i in items { text = text + i + item }
    return text
}
fn first_over(items: List[int], least: int = 10) to int {
    for item in items { if item > least { return item } }
    return -1
}
fn countdown(from: int) to int {
    let mut left = from
    let mut seen = 0
    while left > 0 {
        left -= 1
        if left is 3 { continue }
        seen = seen * 10 + left
    }
    return seen
}
fn doublings(limit: int) to int {
    let mut n = 1
    loop {
        if n >= limit { break }
        n *= 2
    }
    return n
}
fn pairs(n: int) to int {
    let mut found = 0
    for i in range(0, n) {
        for j in range(0, n) {
            if j > i { break }
            found += 1
        }
    }
    return found
}
`,
    calls: [
      returns('sum', [[1, -5, 2]], 3),
      returns('sum', [[]], 0),
      fails('sum', [[maxInt, 1]], 'the result is outside the range of int'),
      returns('places', [['a', 'b']], '0a1b'),
      returns('first_over', [[1, 11, 12]], 11),
      returns('first_over', [[1, 11, 12], 11], 12),
      returns('first_over', [[]], -1),
      returns('countdown', [5], 4210),
      returns('doublings', [100], 128),
      returns('pairs', [3], 6),
    ],
  },
  numbers: {
    source: `fn halves(n: int) to List[int] { return [n / 2, -n / 2, n % 2] }
fn ratio(a: float, b: float) to float { return a / b }
fn rest(a: int, b: int) to int { return a % b }
fn share(a: int, b: int) to int { return a / b }
fn mixed(a: int, b: float) to float { return a + b * 2 - 1 }
fn product(a: int, b: int) to int { return a * b }
fn less(a: int, b: int) to int { return a - b }
fn opposite(a: int) to int { return -a }
fn order(a: int, b: int) to List[bool] { return [a < b, a <= b, a > b, a >= b, a is b, a isnt b] }
fn whole(text: str) to int { return int(text) }
fn cut(x: float) to int { return int(x) }
fn real(text: str) to float { return float(text) }
`,
    calls: [
      returns('halves', [7], [3, -3, 1]),
      returns('halves', [-7], [-3, 3, -1]),
      returns('ratio', [1, 4], 0.25),
      fails('ratio', [1, 0], 'division by zero'),
      returns('rest', [-7, 3], -1),
      fails('rest', [1, 0], 'division by zero'),
      fails('share', [1, 0], 'division by zero'),
      returns('mixed', [1, 2.5], 5),
      fails('product', [maxInt, 2], 'the result is outside the range of int'),
      fails('less', [-maxInt, 1], 'the result is outside the range of int'),
      returns('opposite', [5], -5),
      returns('order', [1, 2], [true, true, false, false, false, true]),
      returns('order', [2, 2], [false, true, false, true, true, false]),
      returns('whole', ['-12'], -12),
      fails('whole', ['1.5'], '1.5 is not an int'),
      fails('whole', [''], ' is not an int'),
      returns('cut', [-2.75], -2),
      returns('real', ['1e3'], 1000),
      fails('real', ['x'], 'x is not a float'),
    ],
  },
  text: {
    source: `fn label(n: int) to str {
    return if n is 0 { "none" } else { "n=" + n }
}
fn first_word(text: str) to Option[str] { return text.split(" ").first() }
fn shown(n: int, x: float, b: bool, o: Option[int], l: List[str]) to str {
    return str(n) + " " + x + " " + b + " " + o + " " + l
}
fn changed(text: str) to List[str] {
    return [text.trim(), text.to_upper(), text.to_lower(), text.replace("a", "$&")]
}
fn asked(text: str, part: str) to List[bool] {
    return [text.contains(part), text.starts_with(part), text.ends_with(part), text.is_empty()]
}
fn lengths(text: str) to List[int] { return [text.len(), len(text)] }
fn alphabetical(a: str, b: str) to List[bool] { return [a < b, a <= b, a > b, a >= b, a is b] }
fn quoted(text: str) to str { return std.json.quote(text) + std.json.stringify([text]) }
`,
    calls: [
      returns('label', [0], 'none'),
      returns('label', [7], 'n=7'),
      returns('first_word', ['a b'], 'a'),
      returns('first_word', [''], ''),
      returns('shown', [1, 2.5, true, null, ['x', 'y']], '1 2.5 true None ["x","y"]'),
      returns('shown', [-1, 2, false, 3, []], '-1 2 false 3 []'),
      returns('changed', [' aB '], ['aB', ' AB ', ' ab ', ' $&B ']),
      returns('asked', ['abc', 'a'], [true, true, false, false]),
      returns('asked', ['', ''], [true, true, true, true]),
      returns('lengths', ['h\u{1F600}'], [2, 2]),
      returns('alphabetical', ['a', 'b'], [true, true, false, false, false]),
      returns('alphabetical', ['b', 'b'], [false, true, false, true, true]),
      returns('quoted', ['a"b'], '"a\\"b"["a\\"b"]'),
    ],
  },
  lists: {
    source: `fn at(items: List[str], i: int) to str { return items[i] }
fn maybe(items: List[int], i: int) to Option[int] { return items.get(i) }
fn ends(items: List[int]) to (Option[int], Option[int]) { return (items.first(), items.last()) }
fn counted(items: List[int]) to List[int] { return [items.len(), len(items)] }
fn longer(items: List[int], n: int) to List[int] { return items.append(n).push(n + 1).reverse() }
fn has(items: List[List[int]], item: List[int]) to bool { return items.contains(item) }
fn joined(items: List[int]) to str { return items.join(", ") + items.join() }
fn squares(items: List[int], least: int) to List[int] {
    return items.map(x => x * x).filter(x => x >= least)
}
fn is_nothing(items: List[int]) to bool { return items.is_empty() }
fn numbers(from: int, to_: int) to List[int] { return range(from, to_) }
`,
    calls: [
      returns('at', [['a', 'b'], 1], 'b'),
      returns('at', [['a', 'b'], -2], 'a'),
      fails('at', [['a', 'b'], 2], 'index 2 is out of range for length 2'),
      returns('maybe', [[1, 2], 1], 2),
      returns('maybe', [[1, 2], 5], null),
      returns('ends', [[1, 2, 3]], [1, 3]),
      returns('ends', [[]], [null, null]),
      returns('counted', [[1, 2, 3]], [3, 3]),
      returns('longer', [[1], 2], [3, 2, 1]),
      returns(
        'has',
        [
          [[1], [2, 3]],
          [2, 3],
        ],
        true,
      ),
      returns('has', [[[1], [2, 3]], [2]], false),
      returns('joined', [[1, 2]], '1, 212'),
      returns('squares', [[1, 2, 3], 4], [4, 9]),
      returns('is_nothing', [[]], true),
      returns('is_nothing', [[0]], false),
      returns('numbers', [2, 5], [2, 3, 4]),
      returns('numbers', [5, 2], []),
    ],
  },
  'lists as a whole': {
    source: `fn found(items: List[int], n: int) to Option[int] { return items.find(x => x > n) }
fn compared(items: List[int], n: int) to List[bool] { return [items.any(x => x > n), items.all(x => x > n)] }
fn cut(items: List[int], from: int) to List[int] { return items.slice(from) + items.slice(0, from) }
fn joined(a: List[int], b: List[int]) to List[int] {
    let mut all = a + b
    all += [0]
    return all.concat(a)
}
fn spread(items: List[int]) to List[int] { return items.flat_map(n => range(0, n)) }
fn folded(items: List[str]) to str { return items.reduce((text, item) => text + item, ">") }
fn longest(items: List[str]) to int { return items.reduce((most, item) => if item.len() > most { item.len() } else { most }, 0) }
fn paired(a: List[int], b: List[str]) to List[(int, str)] { return a.zip(b) }
fn added(items: List[int]) to int { return items.sum() }
fn measured(items: List[float]) to (float, Option[float]) { return (items.sum(), items.avg()) }
fn mean(items: List[int]) to Option[float] { return items.avg() }
fn ends(items: List[str]) to (Option[str], Option[str]) { return (items.min(), items.max()) }
fn bounds(items: List[int]) to (Option[int], Option[int]) { return (items.min(), items.max()) }
fn ordered(items: List[str]) to List[str] { return items.sort() }
fn ranked(items: List[(str, int)]) to List[(str, int)] { return items.sort_by(item => (-item[1], item[0])) }
fn sparse(items: List[int]) to List[int] { return items.sort_by(n => if n > 9 { None } else { Some(n) }) }
fn different(items: List[List[int]]) to List[List[int]] { return items.distinct() }
fn kinds(items: List[str]) to Set[str] { return items.to_set() }
`,
    calls: [
      returns('found', [[1, 5, 9], 4], 5),
      returns('found', [[1], 4], null),
      returns('compared', [[1, 5], 2], [true, false]),
      returns('compared', [[], 2], [false, true]),
      returns('cut', [[1, 2, 3], 1], [2, 3, 1]),
      returns('cut', [[1, 2, 3], -1], [3, 1, 2]),
      returns('joined', [[1], [2]], [1, 2, 0, 1]),
      returns('spread', [[2, 0, 3]], [0, 1, 0, 1, 2]),
      returns('folded', [['a', 'b']], '>ab'),
      returns('longest', [['a', 'bcd', 'ef']], 3),
      returns(
        'paired',
        [
          [1, 2, 3],
          ['a', 'b'],
        ],
        [
          [1, 'a'],
          [2, 'b'],
        ],
      ),
      returns('added', [[1, 2, 3]], 6),
      returns('added', [[]], 0),
      fails('added', [[maxInt, 1]], 'the result is outside the range of int'),
      returns('measured', [[0.5, 1]], [1.5, 0.75]),
      returns('measured', [[]], [0, null]),
      returns('mean', [[1, 2]], 1.5),
      returns('ends', [['b', '\u{1F600}', '\uffee', 'B']], ['B', '\u{1F600}']),
      returns('ends', [[]], [null, null]),
      returns('bounds', [[3, -1, 3]], [-1, 3]),
      returns('ordered', [['b', '\u{1F600}', '\uffee', 'ab', 'a']], ['a', 'ab', 'b', '\uffee', '\u{1F600}']),
      returns(
        'ranked',
        [
          [
            ['a', 1],
            ['c', 2],
            ['b', 2],
          ],
        ],
        [
          ['b', 2],
          ['c', 2],
          ['a', 1],
        ],
      ),
      returns('sparse', [[5, 10, 3, 11]], [10, 11, 3, 5]),
      returns('different', [[[1], [2], [1]]], [[1], [2]]),
      returns('kinds', [['b', 'a', 'b']], ['b', 'a']),
    ],
  },
  'records, options and results': {
    source: `type Place { x: float, y: float, name: Option[str] }
fn unnamed(x: float) to Place { return { x: x, y: 0.0 } }
fn same(a: Place, b: Place) to List[bool] { return [a is b, a isnt b] }
fn presence(o: Option[int]) to List[bool] { return [o.is_some(), o.is_none()] }
fn forced(o: Option[int]) to int { return o.unwrap() }
fn case_of(o: Option[int]) to str { return match o { Some(n) if n > 9 => "large", Some(n) => "n" + n, None => "none" } }
fn checked(n: int) to Result[int] {
    if n < 0 { return Error("negative") }
    return Ok(n + 1)
}
fn described(n: int) to str { return match checked(n) { Ok(m) => "ok " + m, Error(why) => why } }
fn fine(n: int) to List[bool] { return [checked(n).is_ok(), checked(n).is_err()] }
`,
    calls: [
      returns('unnamed', [1], {x: 1, y: 0}),
      returns(
        'same',
        [
          {x: 1, y: 2, name: 'a'},
          {x: 1, y: 2, name: 'a'},
        ],
        [true, false],
      ),
      returns(
        'same',
        [
          {x: 1, y: 2},
          {x: 1, y: 2, name: 'a'},
        ],
        [false, true],
      ),
      returns('presence', [null], [false, true]),
      returns('presence', [0], [true, false]),
      returns('forced', [1], 1),
      fails('forced', [null], 'unwrap() of None'),
      returns('case_of', [10], 'large'),
      returns('case_of', [1], 'n1'),
      returns('case_of', [null], 'none'),
      returns('checked', [1], {_tag: 'Ok', value: 2}),
      returns('checked', [-1], {_tag: 'Error', value: 'negative'}),
      returns('described', [1], 'ok 2'),
      returns('described', [-1], 'negative'),
      returns('fine', [1], [true, false]),
      returns('fine', [-1], [false, true]),
    ],
  },
  'options that are changed': {
    source: `fn doubled(o: Option[int]) to Option[int] { return o.map(n => n * 2) }
fn positive(o: Option[int]) to Option[int] { return o.map(n => if n > 0 { Some(n) } else { None }) }
fn either(a: Option[int], b: Option[int]) to Option[int] { return a.or_else(() => b) }
`,
    calls: [
      returns('doubled', [2], 4),
      returns('doubled', [null], null),
      returns('positive', [2], 2),
      returns('positive', [-2], null),
      returns('either', [1, 2], 1),
      returns('either', [null, 2], 2),
    ],
  },
  'functions as values': {
    source: `fn closure() to List[int] {
    let mut n = 0
    let add = fn(k: int) { n += k }
    add(2)
    add(3)
    let fixed = n
    let later = fn() to int { fixed + n }
    n = 10
    return [n, later()]
}
fn each() to List[int] {
    let mut makers = [fn() to int { -1 }]
    for i in range(0, 3) { makers = makers.append(fn() to int { i * 10 }) }
    return makers.map(make => make())
}
fn double(n: int) to int { return n * 2 }
fn applied(items: List[int]) to List[int] { return items.map(double) }
fn piped(n: int) to int { return n |> double |> double }
fn factorial(n: int) to int { return if n < 2 { 1 } else { n * factorial(n - 1) } }
fn even(n: int) to bool { return n is 0 or odd(n - 1) }
fn odd(n: int) to bool { return n isnt 0 and even(n - 1) }
fn with_default(a: int, b: int = a_default()) to int { return a + b }
fn a_default() to int { return 100 }
fn by_name(a: int) to int { return with_default(b = 1, a = a) + with_default(a) }
`,
    calls: [
      returns('closure', [], [10, 15]),
      returns('each', [], [-1, 0, 10, 20]),
      returns('double', [4], 8),
      returns('applied', [[1, 2]], [2, 4]),
      returns('piped', [3], 12),
      returns('factorial', [5], 120),
      returns('even', [4], true),
      returns('odd', [4], false),
      returns('a_default', [], 100),
      returns('with_default', [1], 101),
      returns('with_default', [1, 2], 3),
      returns('by_name', [5], 111),
    ],
  },
  'lists, tuples and options whose types are inferred': {
    isLoose: true,
    source: `type Spot { x: float, name: Option[str] }
fn name_of(p: Spot) to str { return p.name.unwrap_or("nowhere") }
fn moved(p: Spot, by: float) to Spot { return { x: p.x + by, name: p.name } }
fn swapped(pair: (int, str)) to (str, int) { return (pair[1], pair[0]) }
fn unpacked(a: int) to int {
    let (x, y) = (a, a + 1)
    let _ = x
    return x * y
}
fn grown(n: int) to List[int] {
    let mut items = []
    for i in range(0, n) { items = items.append(i) }
    return items
}
`,
    calls: [
      returns('name_of', [{x: 1, name: 'a'}], 'a'),
      returns('name_of', [{x: 1}], 'nowhere'),
      returns('moved', [{x: 1, name: 'a'}, 1], {x: 2, name: 'a'}),
      returns('moved', [{x: 1}, 1], {x: 2}),
      returns('swapped', [[1, 'a']], ['a', 1]),
      returns('unpacked', [3], 12),
      returns('grown', [3], [0, 1, 2]),
    ],
  },
  'constructs as values': {
    source: `fn chosen(n: int) to int {
    let a = if n > 0 { 1 } else if n is 0 { 0 } else { -1 }
    let b = match n { 1 => { let c = a + 1
        c * 10 }, _ => 5 }
    let d = { let e = b
        e + a }
    return a + b + d
}
fn logic(a: bool, b: bool) to List[bool] { return [a and b, a or b, not a, !b, a is b] }
fn shadowed(n: int) to int {
    let a = n
    if n > 0 { let a = 100
        return a + n }
    return a
}
fn result(new: int) to int {
    let delete = new + 1
    return delete
}
fn nothing(n: int) { let a = n }
`,
    calls: [
      returns('chosen', [1], 42),
      returns('chosen', [0], 10),
      returns('chosen', [-1], 8),
      returns('logic', [true, false], [false, true, false, true, false]),
      returns('logic', [true, true], [true, true, false, false, true]),
      returns('shadowed', [1], 101),
      returns('shadowed', [-1], -1),
      returns('result', [1], 2),
      returns('nothing', [1], null),
    ],
  },
}
