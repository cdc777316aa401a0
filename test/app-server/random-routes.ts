/** Random programs whose routes return their arguments, and calls of these routes with the expected responses. */
import {type Fields, optional, type Shape, shape, TypeWriter, value} from '../lang/random-types.js'
import type {Random} from '../support/random.js'

export interface Parameter {
  name: string
  shape: Shape
  place: 'path' | 'query' | 'body'
}

export interface Call {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** As in the document: `/api/query/e0`, `/h1/{p0}`. */
  path: string
  /** The function of the client of `svc db client`; undefined for a declared route. */
  endpoint: string | undefined
  parameters: readonly Parameter[]
  /** By parameter name; null is omitted. */
  args: Readonly<Record<string, unknown>>
  status: number
  /** The expected result if the status is 200. */
  json?: unknown
}

interface RandomProgram {
  source: string
  calls: readonly Call[]
}

type Way = (result: unknown) => Pick<Call, 'status' | 'json'>

/** How a route returns the value of `e`, of type `t`, for each value of its parameter `way`. */
const endings: Readonly<Record<string, {type(t: string): string; body(e: string): string; ways: readonly Way[]}>> = {
  value: {type: (t) => t, body: (e) => `return ${e}`, ways: [(json) => ({status: 200, json})]},
  result: {
    type: (t) => `Result[${t}]`,
    body: (e) => `if way is 1 { return Error("no") }\n    return Ok(${e})`,
    ways: [(json) => ({status: 200, json}), () => ({status: 422})],
  },
  'result with variants': {
    type: (t) => `Result[${t}, Why]`,
    body: (e) => `if way is 1 { return Error(Late(3)) }\n    return Ok(${e})`,
    ways: [(json) => ({status: 200, json}), () => ({status: 422})],
  },
  'result in an option': {
    type: (t) => `Option[Result[${t}]]`,
    body: (e) => `if way is 1 { return None } else if way is 2 { return Some(Error("no")) }\n    return Some(Ok(${e}))`,
    ways: [
      (found) => ({status: 200, json: {_tag: 'Ok', value: found}}),
      () => ({status: 200, json: null}),
      () => ({status: 200, json: {_tag: 'Error', value: 'no'}}),
    ],
  },
  'list of results': {
    type: (t) => `List[Result[${t}]]`,
    body: (e) => `return [Ok(${e}), Error("no")]`,
    ways: [
      (found) => ({
        status: 200,
        json: [
          {_tag: 'Ok', value: found},
          {_tag: 'Error', value: 'no'},
        ],
      }),
    ],
  },
  map: {
    type: (t) => `Map[str, ${t}]`,
    body: (e) => `return { k: ${e} }`,
    ways: [(k) => ({status: 200, json: {k}})],
  },
  nothing: {type: () => 'Unit', body: () => 'return Unit', ways: [() => ({status: 204})]},
  'result of nothing': {
    type: () => 'Result[Unit]',
    body: () => 'if way is 1 { return Error("no") }\n    return Ok(Unit)',
    ways: [() => ({status: 204}), () => ({status: 422})],
  },
  'option of nothing': {
    type: () => 'Option[Unit]',
    body: () => 'if way is 1 { return None }\n    return Some(Unit)',
    ways: [() => ({status: 204}), () => ({status: 200, json: null})],
  },
}

/** Also with tuples, and with options inside other types. */
function anyShape(random: Random): Shape {
  if (random.chance(0.12)) return {kind: 'tuple', items: [shape(random, 1), optional(random, shape(random, 1))]}
  if (random.chance(0.08)) return {kind: random.pick(['List', 'Map']), of: {kind: 'Option', of: shape(random, 1)}}
  return shape(random)
}

const kinds = ['query', 'mutation', 'server', 'get', 'post', 'put', 'delete'] as const

/** A value that the server can receive and return at any place. */
const given = (random: Random, of: Shape) => value(random, of)

export function randomProgram(random: Random, routes: number): RandomProgram {
  const writer = new TypeWriter()
  const declared: string[] = []
  const calls: Call[] = []
  for (let i = 0; i < routes; i++) addRoute(i)
  const table = addTable()
  const types = [...writer.declarations, 'type Why = | Late(by: int) | Never']
  return {source: `${[...types, ...table, ...declared].join('\n')}\n`, calls}

  function addRoute(i: number): void {
    const kind = random.pick(kinds)
    const isDeclared = !['query', 'mutation', 'server'].includes(kind)
    const inBody = kind === 'mutation' || kind === 'server' || kind === 'post' || kind === 'put'
    const parameters = Array.from({length: 1 + random.below(3)}, (_, at): Parameter & {text: string} => {
      const isInPath = isDeclared && at === 0 && random.chance(0.5)
      const of = isInPath ? anyShape(random) : optional(random, anyShape(random))
      return {
        name: `p${at}`,
        shape: of,
        place: isInPath ? 'path' : inBody ? 'body' : 'query',
        text: writer.write(of),
      }
    })
    const way: Parameter = {name: 'way', shape: {kind: 'int'}, place: inBody ? 'body' : 'query'}
    const [first] = parameters as [Parameter & {text: string}]
    // A record of all parameters, or the first one.
    const isRecord = random.chance(0.3)
    const type = isRecord
      ? writer.declare(`{ ${parameters.map(({name, text}) => `${name}: ${text}`).join(', ')} }`)
      : first.text
    const expression = isRecord ? `{ ${parameters.map(({name}) => `${name}: ${name}`).join(', ')} }` : first.name
    const ending = endings[random.pick(Object.keys(endings))] as (typeof endings)[string]
    const params = [...parameters.map(({name, text}) => `${name}: ${text}`), 'way: int = 0'].join(', ')
    const to = ending.type(type)
    const inPath = parameters.filter(({place}) => place === 'path').map(({name}) => `/{${name}}`)
    const path = isDeclared ? `/h${i}${inPath.join('')}` : `/api/${kind === 'server' ? '' : `${kind}/`}e${i}`
    const head = isDeclared ? `http ${kind} "${path}"` : `@endpoint(kind: ${kind}) fn e${i}`
    declared.push(
      `${head} (${params}) to ${to} {\n    if way is 9 { assert(false) }\n    ${ending.body(expression)}\n}`,
    )

    const ways: Way[] = [...ending.ways, () => ({status: 500})]
    for (const [at, respond] of ways.entries()) {
      const chosen = at === ending.ways.length ? 9 : at
      const args: Record<string, unknown> = {way: chosen}
      for (const {name, shape: of} of parameters) args[name] = given(random, of)
      const echo = isRecord
        ? Object.fromEntries(parameters.map(({name}) => [name, args[name]]).filter(([, each]) => each !== null))
        : args[first.name]
      const found = respond(echo)
      // A declared route answers None with 404.
      const response = isDeclared && found.status === 200 && found.json === null ? {status: 404} : found
      const call = {path, endpoint: isDeclared ? undefined : `e${i}`, args, ...response}
      if (kind === 'query')
        for (const [method, place] of [
          ['GET', 'query'],
          ['POST', 'body'],
        ] as const)
          calls.push({...call, method, parameters: [...parameters, way].map((each) => ({...each, place}))})
      else {
        const method = kind === 'mutation' || kind === 'server' ? 'POST' : (kind.toUpperCase() as Call['method'])
        calls.push({...call, method, parameters: [...parameters, way]})
      }
    }
  }

  /** A table with a unique index, and routes that insert, read and delete a row. */
  function addTable(): string[] {
    const columns: Fields = ['a', 'b', 'c'].map((name) => ({name, shape: optional(random, anyShape(random))}))
    const texts = columns.map(({name, shape: of}) => `${name}: ${writer.write(of)}`)
    const args = Object.fromEntries(columns.map(({name, shape: of}) => [name, given(random, of)]))
    const key: Parameter = {name: 'key', shape: {kind: 'int'}, place: 'body'}
    const insert = {
      method: 'POST' as const,
      path: '/api/mutation/insert',
      endpoint: 'insert',
      parameters: [...columns.map((each): Parameter => ({...each, place: 'body'})), key],
      args: {...args, key: 7},
    }
    const row = {_id: 1, key: 7, ...Object.fromEntries(Object.entries(args).filter(([, each]) => each !== null))}
    const read = (path: string, endpoint: string, json: unknown): Call => {
      return {method: 'GET', path, endpoint, parameters: [], args: {}, status: 200, json}
    }
    const id: Parameter = {name: 'id', shape: {kind: 'int'}, place: 'path'}
    const one = {path: '/rows/{id}', endpoint: undefined, parameters: [id]}
    calls.push(
      {...insert, status: 200, json: 1},
      {...insert, status: 409},
      read('/api/query/rows', 'rows', [row]),
      read('/api/query/keys', 'keys', [{_id: 1, key: 7}]),
      {...one, method: 'GET', args: {id: 1}, status: 200, json: row},
      {...one, method: 'GET', args: {id: 2}, status: 404},
      {...one, method: 'DELETE', args: {id: 1}, status: 200, json: true},
      {...one, method: 'DELETE', args: {id: 1}, status: 200, json: false},
    )
    return [
      `@table type Row { ${texts.join(', ')}, key: int }`,
      '@index Row.by_key on (key) unique',
      `@endpoint(kind: mutation) fn insert(${texts.join(', ')}, key: int) to Id[Row] {
    return db.Row.insert({ ${[...columns, key].map(({name}) => `${name}: ${name}`).join(', ')} })
}`,
      '@endpoint(kind: query) fn rows() to List[Row] { return db.Row.all().live("rows") }',
      '@endpoint(kind: query) fn keys() to List[Row] { return db.Row.all().select(key) }',
      'http get "/rows/{id}" (id: Id[Row]) to Option[Row] { return db.Row.get(id) }',
      'http delete "/rows/{id}" (id: Id[Row]) to bool { return db.Row.delete(id) }',
    ]
  }
}
