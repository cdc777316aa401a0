/** Forms from JSON schemas of objects. */
import {element} from './elements.js'

let fields = 0

/** `task_id` as `Task id`. */
export const labelOf = (name) => {
  const words = name.replaceAll('_', ' ')
  return words[0].toUpperCase() + words.slice(1)
}

function typeOf({type, enum: choices, items}) {
  if (choices !== undefined) return 'choice'
  const [first] = [type].flat()
  return first === 'array' && items?.type !== 'string' ? 'json' : first
}

/** Number of characters from which a text gets several lines. */
const longText = 1024

const writeText = (input, value) => {
  input.value = String(value)
}

/** Inputs by type: how each is created, how its value is set, and how it is read; undefined: no value. */
const inputs = {
  choice: {
    create: ({enum: choices, default: initial}) =>
      element(
        'select',
        {},
        element('option', {value: ''}, initial === undefined ? '—' : `— (${initial})`),
        ...choices.map((choice) => element('option', {value: choice}, String(choice))),
      ),
    write: writeText,
    read: ({value}, _isRequired, {enum: choices}) => choices.find((choice) => String(choice) === value),
  },
  boolean: {
    create: () => element('input', {type: 'checkbox'}),
    write: (input, value) => {
      input.checked = value
    },
    read: ({checked}, isRequired) => checked || (isRequired ? false : undefined),
  },
  integer: {
    create: ({minimum, maximum, default: initial}) =>
      element('input', {
        type: 'number',
        inputMode: 'numeric',
        step: '1',
        min: minimum ?? '',
        max: maximum ?? '',
        placeholder: initial ?? '',
      }),
    write: writeText,
    read: ({value}) => (value === '' ? undefined : Number(value)),
  },
  number: {
    create: () => element('input', {type: 'number', step: 'any'}),
    write: writeText,
    read: ({value}) => (value === '' ? undefined : Number(value)),
  },
  string: {
    create: ({maxLength = 0}) =>
      maxLength < longText ? element('input', {type: 'text', autocomplete: 'off'}) : element('textarea', {rows: 3}),
    write: writeText,
    read: ({value}) => value.trim() || undefined,
  },
  array: {
    create: () => element('textarea', {rows: 2, placeholder: 'one per line'}),
    write: (input, value) => {
      input.value = value.join('\n')
    },
    read: ({value}) => {
      const items = value.split('\n').flatMap((line) => line.trim() || [])
      return items.length === 0 ? undefined : items
    },
  },
  json: {
    create: () => element('textarea', {rows: 3, className: 'mono', placeholder: 'JSON', spellcheck: false}),
    write: (input, value) => {
      input.value = JSON.stringify(value, null, 2)
    },
    read: ({value}) => (value.trim() === '' ? undefined : JSON.parse(value)),
  },
}

/**
 * Creates the fields of members of a schema.
 * @param values of members at first
 * @returns the elements, and a function that reads the values; it throws the error of the first value that is not valid
 */
export function createFields({properties = {}, required = []}, names = Object.keys(properties), values = {}) {
  const made = names.map((name) => {
    const schema = properties[name]
    const kind = inputs[typeOf(schema)] ?? inputs.json
    const input = kind.create(schema)
    if (values[name] !== undefined && values[name] !== null) kind.write(input, values[name])
    input.required = required.includes(name) && input.type !== 'checkbox'
    const id = `field-${++fields}`
    const hint = element('span', {className: 'hint', id}, schema.description ?? '')
    if (schema.description !== undefined) input.setAttribute('aria-describedby', id)
    const label = element('label', {}, labelOf(name), input)
    return {
      name,
      input,
      read: () => kind.read(input, required.includes(name), schema),
      element: element('div', {className: 'field'}, label, hint),
    }
  })
  return {
    elements: made.map((field) => field.element),
    values() {
      const values = {}
      for (const {name, input, read} of made)
        try {
          const value = read()
          if (value !== undefined) values[name] = value
        } catch (error) {
          input.focus()
          throw new Error(`${labelOf(name)}: ${error.message}`)
        }
      return values
    },
  }
}
