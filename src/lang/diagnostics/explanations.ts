import type {DiagnosticCode} from './codes.js'

/** The cause of a diagnostic, its fix, a program that triggers only this code, and the corrected program. */
export interface DiagnosticExplanation {
  cause: string
  fix: string
  example: string
  fixed: string
}

const task = '@table type Task { title: str, done: bool, priority: int, tags: List[str] }\n\n'
const page = '@table type Page { text: str }\n@search_index Page.by_text on (text)\n\n'
const user =
  '@table type User { name: str, mail: str }\n@index User.by_name on (name) unique\n@index User.by_mail on (mail) unique\n\n'
const note = '@table type Note { text: str, embedding: List[float] }\n\n'
const point = 'type Point { x: int, y: int }\n\n'
const deep = (levels: number) => `fn answer() to int { return ${'('.repeat(levels)}1${')'.repeat(levels)} }\n`

/** Loaded only by `svc explain`. */
export const diagnosticExplanations: {readonly [C in DiagnosticCode]: DiagnosticExplanation} = {
  'parse.unexpected_char': {
    cause: 'A character outside strings and comments is not part of any token.',
    fix: 'Remove the character.',
    example: 'fn price() to str { return $"5" }\n',
    fixed: 'fn price() to str { return "5" }\n',
  },
  'parse.unterminated_string': {
    cause: 'A string literal must end on the line where it starts.',
    fix: 'Add the closing quote, and write \\n for a line break.',
    example: 'fn greeting() to str { return "hello }\n}\n',
    fixed: 'fn greeting() to str { return "hello" }\n',
  },
  'parse.block_comment': {
    cause: 'The language has line comments only.',
    fix: 'Start each line of the comment with //.',
    example: '/* Counts from one. */\nfn first() to int { return 1 }\n',
    fixed: '// Counts from one.\nfn first() to int { return 1 }\n',
  },
  'parse.int_range': {
    cause: 'Integers beyond ±(2^53 - 1) cannot be represented exactly.',
    fix: 'Use a smaller number, or store the value as str or dec.',
    example: 'fn most() to int { return 9007199254740993 }\n',
    fixed: 'fn most() to int { return 9007199254740991 }\n',
  },
  'parse.unknown_escape': {
    cause: 'A backslash in a string is followed by a character that does not form an escape.',
    fix: 'Write the backslash twice.',
    example: 'fn pattern() to str { return "\\d+" }\n',
    fixed: 'fn pattern() to str { return "\\\\d+" }\n',
  },
  'parse.unexpected_token': {
    cause: 'The parser found a token where it expected something else, such as an expression or a declaration.',
    fix: 'Complete or remove the construct before the token.',
    example: 'fn total() to int { return 1 + }\n',
    fixed: 'fn total() to int { return 1 + 2 }\n',
  },
  'parse.expected_token': {
    cause: 'The grammar requires a specific token here, and a different one was found.',
    fix: 'Insert the token that the message names.',
    example: '@table type Task { title str }\n',
    fixed: '@table type Task { title: str }\n',
  },
  'parse.expected_newline': {
    cause: 'Two statements are on one line without a separator.',
    fix: 'Put the second statement on its own line, or separate them with ;.',
    example: 'fn greet() to Unit { print("hello") print("world") }\n',
    fixed: 'fn greet() to Unit {\n    print("hello")\n    print("world")\n}\n',
  },
  'parse.too_deep': {
    cause: 'Expressions or blocks are nested more than 200 levels deep.',
    fix: 'Bind a part of the expression with let, or move it into a function.',
    example: deep(220),
    fixed: deep(1),
  },
  'parse.endpoint_kind': {
    cause:
      'Every endpoint must declare its kind: query (read-only), mutation (one transaction) or server (no transaction).',
    fix: 'Write (kind: query), (kind: mutation) or (kind: server).',
    example: '@endpoint fn one() to int { return 1 }\n',
    fixed: '@endpoint(kind: query) fn one() to int { return 1 }\n',
  },
  'parse.retired_decorator': {
    cause: 'The decorator belongs to an earlier version of the language.',
    fix: 'Use the replacement shown in the message.',
    example: '@query fn one() to int { return 1 }\n',
    fixed: '@endpoint(kind: query) fn one() to int { return 1 }\n',
  },
  'parse.arrow_deprecated': {
    cause: 'The arrow is deprecated before a return type and in a match arm.',
    fix: 'Use to before a return type, and => in a match arm.',
    example: 'fn one() -> int { return 1 }\n',
    fixed: 'fn one() to int { return 1 }\n',
  },
  'parse.unsupported_declaration': {
    cause:
      'The declaration belongs to the full language but not to its subset, the data language, so the checker skips it.',
    fix: 'Remove the declaration.',
    example: 'import charts\n\nfn one() to int { return 1 }\n',
    fixed: 'fn one() to int { return 1 }\n',
  },
  'parse.unsupported_decorator': {
    cause:
      'The data language has no decorator with this name. Only the decorator is skipped; the declaration below it is kept.',
    fix: 'Remove the decorator.',
    example: '@endpoint(kind: query) @cached fn one() to int { return 1 }\n',
    fixed: '@endpoint(kind: query) fn one() to int { return 1 }\n',
  },
  'parse.unsupported_operator': {
    cause: 'The operator is parsed for compatibility with the full language and has no effect.',
    fix: 'Remove the operator and its right operand.',
    example: 'fn yes() to bool { return true with false }\n',
    fixed: 'fn yes() to bool { return true }\n',
  },
  'typecheck.unknown_table': {
    cause: 'The program does not declare a table with this name.',
    fix: 'Correct the name, or declare the table.',
    example: `${task}fn all() to List[Task] { return db.Tasks.all() }\n`,
    fixed: `${task}fn all() to List[Task] { return db.Task.all() }\n`,
  },
  'typecheck.unknown_column': {
    cause: 'The table has no column with this name.',
    fix: 'Correct the name, or declare the column.',
    example: `${task}fn find() to List[Task] { return db.Task.where({ titel: "tea" }) }\n`,
    fixed: `${task}fn find() to List[Task] { return db.Task.where({ title: "tea" }) }\n`,
  },
  'typecheck.unknown_field': {
    cause: 'The type of the value has no field with this name.',
    fix: 'Use a field that the type declares.',
    example: 'type Point { x: int, y: int }\n\nfn depth(p: Point) to int { return p.z }\n',
    fixed: 'type Point { x: int, y: int }\n\nfn height(p: Point) to int { return p.y }\n',
  },
  'typecheck.unknown_type': {
    cause: 'The name is neither a built-in type nor a type declared in the program.',
    fix: 'Correct the name, or declare the type.',
    example: 'fn twice(n: integer) to int { return n + n }\n',
    fixed: 'fn twice(n: int) to int { return n + n }\n',
  },
  'typecheck.undefined': {
    cause: 'No variable, parameter or function with this name is in scope.',
    fix: 'Correct the name, or declare it before use.',
    example: 'fn twice(count: int) to int { return cuont + count }\n',
    fixed: 'fn twice(count: int) to int { return count + count }\n',
  },
  'typecheck.unknown_method': {
    cause: 'The table or the type of the value has no method with this name.',
    fix: 'Use one of the methods listed in the message.',
    example: 'fn loud(word: str) to str { return word.upper() }\n',
    fixed: 'fn loud(word: str) to str { return word.to_upper() }\n',
  },
  'typecheck.mismatch': {
    cause: 'An expression has a different type than its context requires.',
    fix: 'Change the expression or the declared type.',
    example: 'fn count() to int { return "three" }\n',
    fixed: 'fn count() to int { return 3 }\n',
  },
  'typecheck.arg_mismatch': {
    cause: 'An argument has a different type than its parameter.',
    fix: 'Pass a value of the type shown in the message.',
    example: 'fn twice(n: int) to int { return n + n }\nfn four() to int { return twice("2") }\n',
    fixed: 'fn twice(n: int) to int { return n + n }\nfn four() to int { return twice(2) }\n',
  },
  'typecheck.arg_count': {
    cause: 'A call has too many arguments, or a required argument is missing.',
    fix: 'Pass one value for every parameter without a default.',
    example: 'fn twice(n: int) to int { return n + n }\nfn four() to int { return twice() }\n',
    fixed: 'fn twice(n: int) to int { return n + n }\nfn four() to int { return twice(2) }\n',
  },
  'typecheck.arg_name': {
    cause: 'A named argument does not match a parameter, or the parameter already has a value.',
    fix: 'Correct the argument name, and pass each parameter at most once.',
    example: 'fn twice(n: int = 1) to int { return n + n }\nfn four() to int { return twice(m = 2) }\n',
    fixed: 'fn twice(n: int = 1) to int { return n + n }\nfn four() to int { return twice(n = 2) }\n',
  },
  'typecheck.missing_column': {
    cause: 'insert() omits a required column.',
    fix: 'Add the column, or declare it as Option[...].',
    example: '@table type Tag { name: str, color: str }\n\nfn add() to Unit { db.Tag.insert({ name: "home" }) }\n',
    fixed:
      '@table type Tag { name: str, color: str }\n\nfn add() to Unit { db.Tag.insert({ name: "home", color: "red" }) }\n',
  },
  'typecheck.insert_id': {
    cause: 'The store assigns the primary key _id, which never changes.',
    fix: 'Omit _id.',
    example: '@table type Tag { name: str }\n\nfn add() to Unit { db.Tag.insert({ _id: 1, name: "home" }) }\n',
    fixed: '@table type Tag { name: str }\n\nfn add() to Unit { db.Tag.insert({ name: "home" }) }\n',
  },
  'typecheck.duplicate_field': {
    cause: 'A record or a predicate contains the same key twice.',
    fix: 'Remove one key, or combine the conditions on a column in one object.',
    example: `${task}fn middle() to List[Task] { return db.Task.where({ priority: { gt: 1 }, priority: { lt: 5 } }) }\n`,
    fixed: `${task}fn middle() to List[Task] { return db.Task.where({ priority: { gt: 1, lt: 5 } }) }\n`,
  },
  'typecheck.missing_field': {
    cause: 'A record omits a required field.',
    fix: 'Add the field.',
    example: 'type Point { x: int, y: int }\n\nfn origin() to Point { return { x: 0 } }\n',
    fixed: 'type Point { x: int, y: int }\n\nfn origin() to Point { return { x: 0, y: 0 } }\n',
  },
  'typecheck.predicate_shape': {
    cause: 'The argument of filter() or where() has an unsupported form; for example, filter() accepts no operators.',
    fix: 'Use where() for operators, or write the argument in the form that the message shows.',
    example: `${task}fn urgent() to List[Task] { return db.Task.filter({ priority: { gt: 2 } }) }\n`,
    fixed: `${task}fn urgent() to List[Task] { return db.Task.where({ priority: { gt: 2 } }) }\n`,
  },
  'typecheck.predicate_operator': {
    cause: 'The predicate operator does not support columns of this type.',
    fix: 'Use an operator that supports the type of the column.',
    example: `${task}fn some() to List[Task] { return db.Task.where({ priority: { contains: 2 } }) }\n`,
    fixed: `${task}fn some() to List[Task] { return db.Task.where({ tags: { contains: "home" } }) }\n`,
  },
  'typecheck.predicate_operator_unknown': {
    cause: 'where() has no operator with this name.',
    fix: 'Use one of the operators listed in the message.',
    example: `${task}fn others() to List[Task] { return db.Task.where({ priority: { ne: 2 } }) }\n`,
    fixed: `${task}fn others() to List[Task] { return db.Task.where({ priority: { neq: 2 } }) }\n`,
  },
  'typecheck.in_empty': {
    cause: 'The in condition has an empty list, so no row can match.',
    fix: 'Add a value to the list, or remove the query.',
    example: `${task}fn some() to List[Task] { return db.Task.where({ priority: { in: [] } }) }\n`,
    fixed: `${task}fn some() to List[Task] { return db.Task.where({ priority: { in: [1, 2] } }) }\n`,
  },
  'typecheck.order_direction': {
    cause: 'The second argument of order_by() is neither asc nor desc.',
    fix: 'Use asc or desc.',
    example: `${task}fn sorted() to List[Task] { return db.Task.all().order_by(priority, down) }\n`,
    fixed: `${task}fn sorted() to List[Task] { return db.Task.all().order_by(priority, desc) }\n`,
  },
  'typecheck.limit_negative': {
    cause: 'A limit is a row count and cannot be negative.',
    fix: 'Use a limit of 0 or more.',
    example: `${task}fn some() to List[Task] { return db.Task.all().limit(-1) }\n`,
    fixed: `${task}fn some() to List[Task] { return db.Task.all().limit(10) }\n`,
  },
  'typecheck.select_empty': {
    cause: 'select() has no columns.',
    fix: 'List the columns to read, or omit select() to read all columns.',
    example: `${task}fn titles() to List[Task] { return db.Task.all().select() }\n`,
    fixed: `${task}fn titles() to List[Task] { return db.Task.all().select(title) }\n`,
  },
  'typecheck.duplicate_modifier': {
    cause: 'A query has the same modifier twice.',
    fix: 'Keep one of them.',
    example: `${task}fn some() to List[Task] { return db.Task.all().limit(1).limit(2) }\n`,
    fixed: `${task}fn some() to List[Task] { return db.Task.all().limit(2) }\n`,
  },
  'typecheck.modifier': {
    cause: 'The modifier does not apply to this operation; for example, limit() after get().',
    fix: 'Remove the modifier.',
    example: `${task}fn one() to Option[Task] { return db.Task.get(1).limit(1) }\n`,
    fixed: `${task}fn one() to Option[Task] { return db.Task.get(1) }\n`,
  },
  'typecheck.count_modifier': {
    cause: 'count() counts all matching rows, so order, limit and columns do not apply.',
    fix: 'Remove order_by(), limit() or select(), or use len() on the list.',
    example: `${task}fn some() to Unit { print(db.Task.all().limit(5).count()) }\n`,
    fixed: `${task}fn some() to Unit { print(db.Task.all().count()) }\n`,
  },
  'typecheck.upsert_key': {
    cause: 'upsert() changes the row that has the same columns of a unique index, and the table has several.',
    fix: 'Name one of the unique indexes as the third argument.',
    example: `${user}fn put(name: str) to Unit { db.User.upsert({ name, mail: name }) }\n`,
    fixed: `${user}fn put(name: str) to Unit { db.User.upsert({ name, mail: name }, { mail: name }, by_name) }\n`,
  },
  'typecheck.group_shape': {
    cause: 'aggregate() computes totals of rows with count, sum, avg, min and max, and group_by() needs it.',
    fix: 'Write an object whose values are these functions of columns.',
    example: `${task}fn f() to Unit { print(db.Task.group_by(done).aggregate({ n: priority })) }\n`,
    fixed: `${task}fn f() to Unit { print(db.Task.group_by(done).aggregate({ n: sum(priority) })) }\n`,
  },
  'typecheck.include_shape': {
    cause: 'include() reads rows that are related by a column of type Id.',
    fix: 'Name a column of type Id of this table, or of another table that refers to this one: { lines: Line.order }.',
    example: `${task}fn f() to Unit { print(db.Task.include({ more: done })) }\n`,
    fixed: `${task}@table type Step { task: Id[Task] }\n@index Step.by_task on (task)\nfn f() to Unit { print(db.Task.include({ steps: Step.task })) }\n`,
  },
  'typecheck.retrieval_mode': {
    cause: 'using() accepts one of three retrieval modes.',
    fix: 'Use fts, vector or hybrid.',
    example: `${page}fn find(words: str) to List[Page] { return db.Page.where({ text: { matches: words } }).using(bm25) }\n`,
    fixed: `${page}fn find(words: str) to List[Page] { return db.Page.where({ text: { matches: words } }).using(fts) }\n`,
  },
  'typecheck.hint_constant': {
    cause: 'The argument of live() or using() must be a constant.',
    fix: 'Write the argument as a literal, such as live("tasks") or using(fts).',
    example: `${task}fn watch(topic: str) to List[Task] { return db.Task.all().live(topic) }\n`,
    fixed: `${task}fn watch() to List[Task] { return db.Task.all().live("tasks") }\n`,
  },
  'typecheck.column_constant': {
    cause: 'Columns in order_by() and select() are part of the SQL statement, so they cannot be computed.',
    fix: 'Use a bare word or a string literal.',
    example: `${task}fn sorted() to List[Task] { return db.Task.all().order_by("pri" + "ority") }\n`,
    fixed: `${task}fn sorted() to List[Task] { return db.Task.all().order_by(priority) }\n`,
  },
  'typecheck.column_not_selected': {
    cause: 'The query selects only some columns, and the program uses another one.',
    fix: 'Add the column to select().',
    example: `${task}fn first() to str { return db.Task.all().select(priority)[0].title }\n`,
    fixed: `${task}fn first() to str { return db.Task.all().select(priority, title)[0].title }\n`,
  },
  'typecheck.table_handle': {
    cause: 'A table is used as a value.',
    fix: 'Call an operation, such as db.Task.all().',
    example: `${task}fn all() to Unit { let tasks = db.Task }\n`,
    fixed: `${task}fn all() to Unit { let tasks = db.Task.all() }\n`,
  },
  'typecheck.reserved_column': {
    cause: 'Names that start with an underscore are reserved for the store.',
    fix: 'Choose a name without the underscore.',
    example: '@table type Tag { _name: str }\n',
    fixed: '@table type Tag { name: str }\n',
  },
  'typecheck.duplicate_column': {
    cause: 'A table, an index or a select() contains a column twice. Column names are case-insensitive in SQL.',
    fix: 'Rename or remove one of them.',
    example: '@table type Tag { name: str, Name: str }\n',
    fixed: '@table type Tag { name: str, label: str }\n',
  },
  'typecheck.table_name': {
    cause: 'Table names must be PascalCase; names that start with svc, codex or sqlite are reserved.',
    fix: 'Rename the table.',
    example: '@table type tag { name: str }\n',
    fixed: '@table type Tag { name: str }\n',
  },
  'typecheck.duplicate_table_name': {
    cause: 'Two table names map to the same SQL table.',
    fix: 'Rename one of them.',
    example: '@table type HTTPLog { path: str }\n@table type HttpLog { path: str }\n',
    fixed: '@table type HttpLog { path: str }\n@table type AccessLog { path: str }\n',
  },
  'typecheck.column_type': {
    cause: 'Values of this type cannot be stored in a column.',
    fix: 'Use a storable type, such as Option[int] for a value that may be absent.',
    example: '@table type Tag { count: Result[int] }\n',
    fixed: '@table type Tag { count: Option[int] }\n',
  },
  'typecheck.on_delete': {
    cause: 'on delete says what happens to a row if the one that its Id[T] column refers to is deleted.',
    fix: 'Use restrict, cascade, or set_null for an Option[Id[T]] column.',
    example: '@table type User { name: str }\n@table type Book { author: Id[User] on delete set_null }\n',
    fixed: '@table type User { name: str }\n@table type Book { author: Option[Id[User]] on delete set_null }\n',
  },
  'typecheck.condition': {
    cause: 'The database evaluates this condition for every row that is written, so it cannot call functions.',
    fix: 'Compare columns of the row with literals, constants and other columns.',
    example: '@table type Item { name: str check(name is name.trim()) }\n',
    fixed: '@table type Item { name: str check(not name.starts_with(" ")) }\n',
  },
  'typecheck.stamp': {
    cause: 'The store sets columns with @created_at and @updated_at whenever it writes a row.',
    fix: 'Leave the column out, or give it the default now() instead.',
    example:
      '@table type Note { text: str, at: int @created_at }\n@test fn old() { db.Note.insert({ text: "a", at: 0 }) }\n',
    fixed: '@table type Note { text: str, at: int = now() }\n@test fn old() { db.Note.insert({ text: "a", at: 0 }) }\n',
  },
  'typecheck.was': {
    cause: 'was is the earlier name of a table, a column or a variant, which a migration replaces.',
    fix: 'Remove the declaration with the earlier name, or was.',
    example: '@table type Note { text: str, body: str was text }\n',
    fixed: '@table type Note { body: str was text }\n',
  },
  'typecheck.type_arity': {
    cause: 'A generic type has too few or too many type arguments.',
    fix: 'Pass the number of type arguments shown in the message, for example List[str].',
    example: '@table type Tag { names: List }\n',
    fixed: '@table type Tag { names: List[str] }\n',
  },
  'typecheck.duplicate_name': {
    cause: 'Two declarations of the same kind have the same name.',
    fix: 'Rename one of them.',
    example: 'fn one() to int { return 1 }\nfn one() to int { return 2 }\n',
    fixed: 'fn one() to int { return 1 }\nfn two() to int { return 2 }\n',
  },
  'typecheck.constant': {
    cause: 'The value of a constant is not known when the program is checked.',
    fix: 'Use literals and other constants, or write a function without parameters.',
    example: 'const started = std.time.now_ms()\n\nfn start() to int { return started }\n',
    fixed: 'fn start() to int { return std.time.now_ms() }\n',
  },
  'typecheck.duplicate_route': {
    cause: 'Two routes have the same method and path. The names of path parameters are ignored.',
    fix: 'Change one of the paths, or merge the handlers.',
    example:
      'http get "/tags/{id}" (id: int) to int { return id }\nhttp get "/tags/{name}" (name: str) to str { return name }\n',
    fixed:
      'http get "/tags/{id}" (id: int) to int { return id }\nhttp get "/names/{name}" (name: str) to str { return name }\n',
  },
  'typecheck.route_path': {
    cause: 'A route path must start with / and be a URL path without encoded characters or segments of dots.',
    fix: 'Correct the path.',
    example: 'http get "tags" to int { return 1 }\n',
    fixed: 'http get "/tags" to int { return 1 }\n',
  },
  'typecheck.param_type': {
    cause: 'Endpoint parameters are validated against their types, so each needs a type that JSON can represent.',
    fix: 'Declare the type of the parameter.',
    example: '@endpoint(kind: query) fn echo(text) to str { return "text" }\n',
    fixed: '@endpoint(kind: query) fn echo(text: str) to str { return text }\n',
  },
  'typecheck.missing_return': {
    cause: 'A path through the function ends without returning a value.',
    fix: 'Return a value on every path.',
    example: 'fn sign(n: int) to int { if n < 0 { return -1 } }\n',
    fixed: 'fn sign(n: int) to int {\n    if n < 0 { return -1 }\n    return 1\n}\n',
  },
  'typecheck.immutable': {
    cause: 'A variable declared with let cannot be reassigned.',
    fix: 'Declare it with let mut.',
    example: 'fn count() to int {\n    let n = 1\n    n = 2\n    return n\n}\n',
    fixed: 'fn count() to int {\n    let mut n = 1\n    n = 2\n    return n\n}\n',
  },
  'typecheck.assign_target': {
    cause: 'Records are immutable; only variables and their elements can be assigned to.',
    fix: 'Create a new value and assign it to the variable.',
    example: `${point}fn moved() to Point {\n    let mut point = Point { x: 1, y: 1 }\n    point.x = 2\n    return point\n}\n`,
    fixed: `${point}fn moved() to Point {\n    let mut point = Point { x: 1, y: 1 }\n    point = { ...point, x: 2 }\n    return point\n}\n`,
  },
  'typecheck.operator': {
    cause: 'The operator is not defined for the types of its operands.',
    fix: 'Convert an operand, or use another operator.',
    example: 'fn total() to int { return 1 + true }\n',
    fixed: 'fn total() to int { return 1 + 1 }\n',
  },
  'typecheck.try_context': {
    cause: '? returns early with an Error or None, but the function returns neither Result nor Option.',
    fix: 'Change the return type to Result or Option, or handle both cases with match.',
    example: 'fn next(n: Option[int]) to int { return n? + 1 }\n',
    fixed: 'fn next(n: Option[int]) to Option[int] { return Some(n? + 1) }\n',
  },
  'typecheck.try_operand': {
    cause: '? unwraps a Result or an Option, but the value is neither.',
    fix: 'Remove the ?.',
    example: 'fn next(n: int) to Option[int] { return Some(n? + 1) }\n',
    fixed: 'fn next(n: int) to Option[int] { return Some(n + 1) }\n',
  },
  'typecheck.pattern': {
    cause: 'The pattern cannot match the type of the value, or let has a pattern that may not match.',
    fix: 'Use match, with an arm for every case.',
    example: 'fn value(n: Option[int]) to int {\n    let Some(found) = n\n    return found\n}\n',
    fixed:
      'fn value(n: Option[int]) to int {\n    return match n {\n        Some(found) => found\n        None => 0\n    }\n}\n',
  },
  'typecheck.null': {
    cause: 'The language has no null; use Option for a value that may be absent.',
    fix: 'Use None.',
    example: 'fn nobody() to Option[str] { return null }\n',
    fixed: 'fn nobody() to Option[str] { return None }\n',
  },
  'typecheck.not_callable': {
    cause: 'The program calls a value that is not a function.',
    fix: 'Remove the parentheses, or call a function.',
    example: 'fn one() to int {\n    let n = 1\n    return n()\n}\n',
    fixed: 'fn one() to int {\n    let n = 1\n    return n\n}\n',
  },
  'typecheck.not_iterable': {
    cause: 'for iterates over a list, but the value is not a list.',
    fix: 'Use a list; range(a, b) returns a list of ints.',
    example: 'fn show() to Unit { for i in 3 { print(i) } }\n',
    fixed: 'fn show() to Unit { for i in range(0, 3) { print(i) } }\n',
  },
  'typecheck.not_indexable': {
    cause: 'Only lists, strings and maps can be indexed.',
    fix: 'Index a list, a string or a map.',
    example: 'fn digit(n: int) to int { return n[0] }\n',
    fixed: 'fn digit(n: List[int]) to int { return n[0] }\n',
  },
  'typecheck.match_not_exhaustive': {
    cause: 'match does not cover every possible value of its operand.',
    fix: 'Add the missing arm, or a _ arm for the remaining cases.',
    example: 'fn value(n: Option[int]) to int {\n    return match n {\n        Some(found) => found\n    }\n}\n',
    fixed:
      'fn value(n: Option[int]) to int {\n    return match n {\n        Some(found) => found\n        None => 0\n    }\n}\n',
  },
  'lint.query_not_readonly': {
    cause: 'An endpoint of kind query writes to the database, directly or through a function that it calls.',
    fix: 'Declare it with (kind: mutation).',
    example: `${task}@endpoint(kind: query)\nfn remove(id: Id[Task]) to bool { return db.Task.delete(id) }\n`,
    fixed: `${task}@endpoint(kind: mutation)\nfn remove(id: Id[Task]) to bool { return db.Task.delete(id) }\n`,
  },
  'lint.unsafe_query_raw_clause': {
    cause: 'Raw SQL is not checked and is vulnerable to SQL injection.',
    fix: 'Use where(), order_by() and limit().',
    example: `${task}fn urgent() to Unit { db.Task.query("priority > 2") }\n`,
    fixed: `${task}fn urgent() to Unit { db.Task.where({ priority: { gt: 2 } }) }\n`,
  },
  'lint.table_id_column': {
    cause: 'Every table has the primary key _id, and a column named id is easily confused with it.',
    fix: 'Remove or rename the column.',
    example: '@table type Tag { id: int, name: str }\n',
    fixed: '@table type Tag { code: int, name: str }\n',
  },
  'lint.index_unknown_table': {
    cause: '@index names a table that the program does not declare.',
    fix: 'Correct the name of the table.',
    example: `${task}@index Tasks.by_title on (title)\n`,
    fixed: `${task}@index Task.by_title on (title)\n`,
  },
  'lint.index_unknown_column': {
    cause: '@index names a column that the table does not declare.',
    fix: 'Correct the name of the column.',
    example: `${task}@index Task.by_title on (titel)\n`,
    fixed: `${task}@index Task.by_title on (title)\n`,
  },
  'lint.index_column_type': {
    cause: 'The column is stored as JSON, which a B-tree index cannot order.',
    fix: 'Index another column.',
    example: `${task}@index Task.by_tags on (tags)\n`,
    fixed: `${task}@index Task.by_title on (title)\n`,
  },
  'lint.index_no_columns': {
    cause: 'The list of indexed columns is empty.',
    fix: 'Name at least one column.',
    example: `${task}@index Task.by_title on ()\n`,
    fixed: `${task}@index Task.by_title on (title)\n`,
  },
  'lint.search_index_unknown_table': {
    cause: '@search_index names a table that the program does not declare.',
    fix: 'Correct the name of the table.',
    example: `${task}@search_index Tasks.by_title on (title)\n`,
    fixed: `${task}@search_index Task.by_title on (title)\n`,
  },
  'lint.search_index_not_table': {
    cause: '@search_index or @vector_index names a type that is not a table.',
    fix: 'Declare the type with @table, or name a table.',
    example: 'type Page { text: str }\n\n@search_index Page.by_text on (text)\n',
    fixed: '@table type Page { text: str }\n\n@search_index Page.by_text on (text)\n',
  },
  'lint.search_index_unknown_field': {
    cause: '@search_index names a column that the table does not declare.',
    fix: 'Correct the name of the column.',
    example: `${task}@search_index Task.by_title on (titel)\n`,
    fixed: `${task}@search_index Task.by_title on (title)\n`,
  },
  'lint.search_index_field_type': {
    cause: 'A full-text index supports only columns of type str.',
    fix: 'Index a column of type str.',
    example: `${task}@search_index Task.by_title on (priority)\n`,
    fixed: `${task}@search_index Task.by_title on (title)\n`,
  },
  'lint.vector_index_field_type': {
    cause: 'A vector index needs one column of type List[float] or bytes, and 1 to 8192 dimensions.',
    fix: 'Index the column that contains the vectors.',
    example: `${note}@vector_index Note.by_meaning on (text) { dimensions: 384 }\n`,
    fixed: `${note}@vector_index Note.by_meaning on (embedding) { dimensions: 384 }\n`,
  },
  'lint.db_query_root': {
    cause: 'db.query(...) is not supported.',
    fix: 'Call an operation on a table.',
    example: `${task}fn all() to Unit { db.query(Task) }\n`,
    fixed: `${task}fn all() to Unit { db.Task.all() }\n`,
  },
  'lint.text_interpolation': {
    cause: 'A string contains the name of a variable in braces, but only f"..." replaces it with the value.',
    fix: 'Write f before the string.',
    example: 'fn greeting(name: str) to str { return "Hello, {name}" }\n',
    fixed: 'fn greeting(name: str) to str { return f"Hello, {name}" }\n',
  },
  'lint.empty_filter': {
    cause: 'A predicate without conditions reads every row of the table.',
    fix: 'Use all(), or add a condition.',
    example: `${task}fn every() to List[Task] { return db.Task.filter({}) }\n`,
    fixed: `${task}fn every() to List[Task] { return db.Task.all() }\n`,
  },
  'lint.include_index': {
    cause: 'Without an index, the rows of the other table are searched once for every row.',
    fix: 'Declare an index that begins with the column.',
    example: `${task}@table type Step { task: Id[Task] }\nfn f() to Unit { print(db.Task.include({ steps: Step.task })) }\n`,
    fixed: `${task}@table type Step { task: Id[Task] }\n@index Step.by_task on (task)\nfn f() to Unit { print(db.Task.include({ steps: Step.task })) }\n`,
  },
  'lint.is_null_never': {
    cause: 'The column is required, so it is never null.',
    fix: 'Remove the condition, or change the column type to Option[...].',
    example: `${task}fn open() to List[Task] { return db.Task.where({ title: { is_null: true } }) }\n`,
    fixed: `${task}fn open() to List[Task] { return db.Task.where({ title: "" }) }\n`,
  },
  'lint.search_words': {
    cause:
      'A search index separates words at spaces and punctuation. Chinese, Japanese, Thai, Lao, Khmer and Burmese text has no spaces between words, so a phrase is one word of the index, and its parts are not found.',
    fix: 'Use contains, which finds any part of a text, or store the text with spaces between its words in another column.',
    example: `${page}fn temples() to List[Page] { return db.Page.where({ text: { matches: "寺院" } }) }\n`,
    fixed: `${page}fn temples() to List[Page] { return db.Page.where({ text: { contains: "寺院" } }) }\n`,
  },
  'lint.http_get_writes': {
    cause: 'GET handlers should only read, because browsers, proxies and crawlers repeat GET requests.',
    fix: 'Use http post, http put or http delete.',
    example: `${task}http get "/tasks/{id}/remove" (id: Id[Task]) to bool { return db.Task.delete(id) }\n`,
    fixed: `${task}http delete "/tasks/{id}" (id: Id[Task]) to bool { return db.Task.delete(id) }\n`,
  },
  'lint.query_random': {
    cause: 'Results of queries are read again and compared, for example by subscriptions, so they must not be random.',
    fix: 'Use std.random in an endpoint of kind mutation or server.',
    example: '@endpoint(kind: query)\nfn roll() to int { return std.random.int(1, 6) }\n',
    fixed: '@endpoint(kind: mutation)\nfn roll() to int { return std.random.int(1, 6) }\n',
  },
  'lint.speech_in_mutation': {
    cause: 'A mutation holds the write lock of the database, and transcription takes seconds.',
    fix: 'Transcribe in an endpoint of kind server, and pass the text to a mutation.',
    example: '@endpoint(kind: mutation)\nfn dictate(path: str) to Result[str] { return Speech.transcribe(path) }\n',
    fixed: '@endpoint(kind: server)\nfn dictate(path: str) to Result[str] { return Speech.transcribe(path) }\n',
  },
}
