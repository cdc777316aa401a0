/** An endpoint of a program: its description, a form with its parameters, and the result of a call. */
import {json, plainTable} from '../../../pages/parts/blocks.js'
import {element, setText} from '../../../pages/parts/elements.js'
import {createFields} from '../../../pages/parts/form.js'
import {authorization} from '../../../pages/parts/key.js'

/** Maximum number of rows of a result that are shown as a table. */
const maxRows = 200

/** A schema without the alternative `null`: an empty field is not sent. */
const withoutNull = (schema) => {
  const others = schema.anyOf?.filter(({type}) => type !== 'null') ?? []
  return others.length === 1 ? others[0] : schema
}

/** The parameters of an operation: where each is sent, and its schema. */
function parametersOf({parameters = [], requestBody}) {
  const body = requestBody?.content['application/json']?.schema ?? {}
  return [
    ...parameters
      .filter((parameter) => parameter.in !== 'header')
      .map(({name, in: where, required, content, schema}) => ({
        name,
        where,
        required,
        isJson: content !== undefined,
        schema: withoutNull(content?.['application/json'].schema ?? schema),
      })),
    ...Object.entries(body.properties ?? {}).map(([name, schema]) => ({
      name,
      where: 'body',
      required: body.required?.includes(name),
      schema: withoutNull(schema),
    })),
  ]
}

/** Element of an endpoint, closed at first. */
export function endpoint(method, path, operation) {
  const parameters = parametersOf(operation)
  const fields = createFields({
    properties: Object.fromEntries(parameters.map(({name, schema}) => [name, schema])),
    required: parameters.filter(({required}) => required).map(({name}) => name),
  })
  const result = element('div', {className: 'result', ariaLive: 'polite'})
  const button = element('button', {type: 'submit', className: 'primary'}, 'Call')
  const form = element('form', {}, ...fields.elements, button)
  form.onsubmit = async (event) => {
    event.preventDefault()
    button.disabled = true
    try {
      const sent = requestOf(method, path, parameters, fields.values())
      await showResponse(result, await fetch(sent.url, sent.options))
    } catch (error) {
      result.replaceChildren(element('p', {className: 'banner'}, error.message))
    }
    button.disabled = false
  }
  return element(
    'details',
    {className: 'panel'},
    element(
      'summary',
      {},
      element('span', {className: 'method'}, method.toUpperCase()),
      ' ',
      element('code', {}, path),
    ),
    element(
      'div',
      {className: 'endpoint'},
      element('p', {className: 'quiet'}, operation.description ?? ''),
      form,
      result,
    ),
  )
}

function requestOf(method, path, parameters, values) {
  const sent = parameters.filter(({name}) => values[name] !== undefined)
  const of = (where) => sent.filter((parameter) => parameter.where === where)
  const textOf = ({name, isJson}) => (isJson ? JSON.stringify(values[name]) : String(values[name]))
  const query = new URLSearchParams(of('query').map((parameter) => [parameter.name, textOf(parameter)])).toString()
  const filled = of('path').reduce((text, parameter) => {
    return text.replace(`{${parameter.name}}`, encodeURIComponent(textOf(parameter)))
  }, path)
  const hasBody = method === 'post' || method === 'put'
  const body = Object.fromEntries(of('body').map(({name}) => [name, values[name]]))
  return {
    url: query === '' ? filled : `${filled}?${query}`,
    options: {
      method: method.toUpperCase(),
      headers: {...authorization(), ...(hasBody ? {'content-type': 'application/json'} : {})},
      body: hasBody ? JSON.stringify(body) : undefined,
    },
  }
}

async function showResponse(target, response) {
  const text = await response.text()
  let value = text
  try {
    value = JSON.parse(text)
  } catch {
    // It is shown as it is.
  }
  const status = element('p', {className: 'quiet'})
  setText(status, `Status ${response.status} ${response.statusText}`)
  target.replaceChildren(status, shown(value))
}

/** A list of objects as a table, anything else as JSON. */
function shown(value) {
  const isTable = Array.isArray(value) && value.length > 0 && value.every((row) => row?.constructor === Object)
  if (!isTable) return json(value, 'Result')
  const names = [...new Set(value.flatMap(Object.keys))]
  const textOf = (cell) =>
    cell === undefined ? undefined : typeof cell === 'object' ? JSON.stringify(cell) : String(cell)
  const rows = value.slice(0, maxRows).map((row) => names.map((name) => textOf(row[name])))
  const rest = value.length - rows.length
  const more = rest > 0 ? [element('p', {className: 'more'}, `${rest} more rows are not shown.`)] : []
  return element('div', {}, plainTable('Result', names, rows), ...more)
}
