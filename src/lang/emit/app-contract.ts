import {type FunctionType, type Program, type Route, show} from '../check/index.js'

interface FunctionContract {
  name: string
  route_path: string
  signature: string
}

/** The information that a host needs to serve a program. */
export interface AppContract {
  schema_version: 2
  http_routes: {method: string; path: string; return_type: string}[]
  query_fns: FunctionContract[]
  mutation_fns: (FunctionContract & {wraps_db_transaction: boolean})[]
  server_fns: FunctionContract[]
  server_config: {bind_host: string; default_port: number; port_env_var: string}
}

const signature = ({params, result}: FunctionType) =>
  `fn(${params.map(({name, type}) => `${name}: ${show(type)}`).join(', ')}) to ${show(result)}`

const contract = ({path, function: made}: Route): FunctionContract => ({
  name: made.name,
  route_path: path,
  signature: signature(made),
})

export function appContract({routes}: Program): AppContract {
  const of = (kind: Route['kind']) => routes.filter((route) => route.kind === kind)
  return {
    schema_version: 2,
    http_routes: of('http').map(({method, path, function: {result}}) => ({method, path, return_type: show(result)})),
    query_fns: of('query').map(contract),
    mutation_fns: of('mutation').map((route) => ({...contract(route), wraps_db_transaction: true})),
    server_fns: of('server').map(contract),
    server_config: {bind_host: '127.0.0.1', default_port: 3000, port_env_var: 'SVC_PORT'},
  }
}
