const verbs = ['list', 'get', 'create', 'update', 'delete', 'search', 'move', 'copy']
const objects = ['files', 'issues', 'events', 'mails', 'tables', 'images', 'charts', 'users']

/**
 * Tools of the size and variety that servers of the Model Context Protocol offer.
 * @param text schema of arguments that are any text
 */
export const manyTools = (count: number, text: object = {type: 'string'}) =>
  Array.from({length: count}, (_, i) => {
    const [verb, object] = [verbs[i % verbs.length], objects[Math.floor(i / verbs.length) % objects.length]]
    const filter = {
      type: 'object',
      properties: {
        field: {...text, description: 'Name of the field'},
        equals: {anyOf: [text, {type: 'number'}, {type: 'null'}]},
        since: {type: 'string', format: 'date-time'},
      },
      required: ['field'],
      additionalProperties: false,
    }
    const properties = {
      path: {...text, description: 'Path of the object'},
      limit: {type: 'integer', minimum: 1, maximum: 100 + (i % 50), description: 'Maximum number of results'},
      ...(i % 2 === 0
        ? {}
        : {[`${object}_ids`]: {type: 'array', items: {type: 'string', maxLength: 64}, maxItems: 20}}),
      ...(i % 3 === 0 ? {} : {order: {enum: ['ascending', 'descending', 'none']}}),
      ...(i % 4 === 0 ? {} : {filter}),
      ...(i % 5 === 0 ? {} : {dry_run: {type: 'boolean', default: false}}),
      ...(i % 7 === 0 ? {options: {type: 'object'}} : {}),
      [`tag_${i}`]: text,
    }
    return {
      name: `${verb}_${object}_${i}`,
      description: `Calls ${verb} on ${object}`,
      parameters: {type: 'object', properties, required: ['path']},
    }
  })
