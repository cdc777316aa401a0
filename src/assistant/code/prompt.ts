import type {ChatMessage} from '../../inference-client/index.js'
import {fenced} from '../fences.js'
import type {SurfaceFault, SurfaceMode} from './surface.js'

/** Complete example programs, without errors and warnings. */
export const codeExamples = [
  `/// Something to be done.
@table type Todo {
    title: str
    done: bool
    due: Option[str]
}
@index Todo.by_done on (done, due)

@endpoint(kind: query)
fn open_todos(max: int = 20) to List[Todo] {
    return db.Todo.where({ done: false }).order_by(due).limit(max)
}

@endpoint(kind: mutation)
fn add(title: str, due: Option[str]) to Result[Id[Todo]] {
    if title.trim().is_empty() { return Error("a todo needs a title") }
    return db.Todo.insert({ title: title.trim(), done: false, due: due })
}

@endpoint(kind: mutation)
fn finish(id: Id[Todo]) to bool {
    return db.Todo.update(id, { done: true })
}
`,
  `type Place { room: str, shelf: int }

type LoanError =
    | NoSuchBook(id: int)
    | Taken(reader: str)

@table type Book {
    title: str
    tags: List[str]
    place: Place
    reader: Option[str]
}

@endpoint(kind: query)
fn tagged(tag: str, before: str) to List[Book] {
    return db.Book.where({ tags: { contains: tag }, or: [{ title: { lt: before } }, { reader: { is_null: true } }] })
}

@endpoint(kind: mutation)
fn lend(id: Id[Book], reader: str) to Result[bool, LoanError] {
    match db.Book.get(id) {
        None => return Error(NoSuchBook(id))
        Some(book) => match book.reader {
            Some(other) => return Error(Taken(other))
            None => {}
        }
    }
    return Ok(db.Book.update(id, { reader: Some(reader) })?)
}

http get "/titles" to str {
    let mut titles = ""
    for book in db.Book.all().order_by(title) {
        titles += book.title + "; "
    }
    return titles
}
`,
] as const

const language = `You write programs of the svc data language. A program is a list of declarations: tables, indexes, record and sum
types, functions, endpoints and routes. There are no imports, no classes, and no statements outside of functions.

- @table type Name { field: Type } declares a table. Every row has an integer key _id, which is not declared. Types of
  fields: int, float, bool, str, dec, bytes, Date, DateTime, Duration, Id[Table], List[T], Map[str, T], records and sums; Option[T] may be absent.
- @index Table.name on (field, field) declares an index.
- @endpoint(kind: query) reads and may not write; @endpoint(kind: mutation) writes; @endpoint(kind: server) is for the
  rest. It stands before fn name(param: Type) to Type { }. A route is http get "/path/{id}" (id: int) to Type { };
  post, put and delete are the other verbs.
- db.Table has insert({ ... }) to its Id, get(id) to Option[row], update(id, { ... }) and delete(id) to bool, all(),
  filter({ field: value }), where({ field: { op: value } }) to List[row], and count() to int. Operators of where: eq,
  neq, lt, lte, gt, gte, in, contains, is_null; and: [..], or: [..] and not: {..} combine. After a read come
  .order_by(field, desc), .limit(n), .select(field, field), .count(). Raw SQL is refused.
- Statements: let, let mut, if and else, match value { pattern => result }, for x in list { }, while, return. Words:
  and, or, not, is, isnt. Some(x) and None are an Option; Ok(x) and Error(e) a Result, and a ? after one hands an error
  on. Text is joined with +. Comments begin with //.`

const surfaces: Readonly<Record<SurfaceMode, string>> = {
  raw_code_only: 'Answer with the program alone: no sentence before or after it, and no code fence.',
  fenced_transport: 'Answer with the whole program in exactly one fenced code block.',
}

/** The system prompt. */
export const systemPrompt = (mode: SurfaceMode): string =>
  [language, ...codeExamples.map((example) => `A program:\n\n${example.trimEnd()}`), surfaces[mode]].join('\n\n')

/** Maximum number of characters of a rejected answer that are sent to the model again. */
const maxAgain = 24_000

/** The messages to repair a program: the request, the last answer, and its problems. */
export const repairMessages = (
  first: readonly ChatMessage[],
  answer: string,
  complaint: string,
  mode: SurfaceMode,
): ChatMessage[] => [
  ...first,
  {role: 'assistant', content: answer.slice(0, maxAgain)},
  {role: 'user', content: `${complaint}\n\nWrite the whole program again, put right. ${surfaces[mode]}`},
]

/** Maximum number of characters of a quoted line. */
const maxQuoted = 80

export function surfaceComplaint({reason, quoted}: SurfaceFault): string {
  const line = quoted === undefined ? '' : `: ${JSON.stringify(quoted.slice(0, maxQuoted))}`
  return `That answer does not have the form that was asked for: ${reason}${line}.`
}

/** @param rendered the diagnostics in human-readable form */
export const programComplaint = (rendered: string): string => `The program has errors:\n\n${fenced(rendered)}`
