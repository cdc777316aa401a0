/** Operations of the workspace, which the server performs. */
import {request} from '../../../pages/parts/request.js'

let methods = new Map()

/** Reads which operations the server performs. @returns path of the workspace */
export async function loadMethods() {
  const {workspace, methods: list} = await (await request('/api/methods')).json()
  methods = new Map(list.map((each) => [each.method, each]))
  return workspace
}

/** True unless the server only reads the workspace. */
export const canCall = (method) => methods.has(method)

/** Schema of the parameters of an operation. */
export const inputOf = (method) => methods.get(method).input

let afterChange = () => undefined
/** Sets what is done after an operation of this page has changed something, which may not be an event. */
export const onChange = (listener) => {
  afterChange = listener
}

/** Performs an operation. @throws ServerFault, Unreachable */
export async function call(method, params = {}) {
  const response = await request(`/api/call/${method}`, {body: params})
  if (['write', 'destructive'].includes(methods.get(method)?.effect)) afterChange()
  return response.json()
}
