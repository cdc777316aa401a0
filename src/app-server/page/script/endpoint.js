/** An endpoint of a program: its description, a form with its parameters, and the result of a call. */
import {element, setText} from '../../../pages/parts/elements.js'
import {parametersOf, resultBlock, schemaOf} from '../../../pages/parts/endpoints.js'
import {createFields} from '../../../pages/parts/form.js'
import {authorization} from '../../../pages/parts/key.js'

/** Element of an endpoint, closed at first. */
export function endpoint(method, path, operation) {
  const parameters = parametersOf(operation)
  const fields = createFields(schemaOf(parameters))
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
  target.replaceChildren(status, resultBlock(value))
}
