/** Endpoints of a program, from its OpenAPI document, and what they return. */
import {button, json, plainTable} from './blocks.js'
import {element, setHidden, setText} from './elements.js'

/** A schema without the alternative `null`: an empty field is not sent. A box cannot be empty, so it becomes a choice. */
const withoutNull = (schema) => {
  const others = schema.anyOf?.filter(({type}) => type !== 'null') ?? []
  if (others.length !== 1) return schema
  return others[0].type === 'boolean' ? {...others[0], enum: [true, false]} : others[0]
}

/** The parameters of an operation: where each is sent, and its schema. */
export function parametersOf({parameters = [], requestBody}) {
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

/** The parameters of an operation as the schema of an object, for a form. */
export const schemaOf = (parameters) => ({
  properties: Object.fromEntries(parameters.map(({name, schema}) => [name, schema])),
  required: parameters.filter(({required}) => required).map(({name}) => name),
})

/** Number of rows that are shown at first, and more each time. */
const rowsAtOnce = 200

const textOf = (cell) =>
  cell === undefined || cell === null ? undefined : typeof cell === 'object' ? JSON.stringify(cell) : String(cell)

/**
 * A list of objects as a table, anything else as JSON.
 * @param actsOf returns the buttons of a row; undefined: rows have none
 */
export function resultBlock(value, actsOf) {
  const isTable = Array.isArray(value) && value.length > 0 && value.every((row) => row?.constructor === Object)
  if (!isTable) return json(value, 'Result')
  const names = [...new Set(value.flatMap(Object.keys))]
  const block = element('div', {})
  const words = element('span', {})
  let count = 0
  const more = element('p', {className: 'more'}, words, ' ', button('Show more', show))
  function show() {
    count += rowsAtOnce
    const rows = value
      .slice(0, count)
      .map((row) => [
        ...names.map((name) => textOf(row[name])),
        ...(actsOf === undefined ? [] : [element('span', {}, ...actsOf(row))]),
      ])
    setText(words, `Showing the first ${rows.length} of ${value.length} rows.`)
    setHidden(more, rows.length === value.length)
    block.replaceChildren(plainTable('Result', actsOf === undefined ? names : [...names, ''], rows), more)
  }
  show()
  return block
}
