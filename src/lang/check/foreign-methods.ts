/** Methods of other languages and libraries, by what they are called here. */
const synonyms: Readonly<Record<string, string>> = {
  // Operations of tables.
  insert: 'create save insert_one insert_into',
  where: 'find_many find_all query_by find_first select_where',
  filter: 'find_by find_where',
  format: 'strftime to_format',
  to_ms: 'get_time value_of timestamp epoch',
  seconds: 'total_seconds as_secs',
  year: 'get_full_year get_year',
  month: 'get_month',
  hour: 'get_hours',
  include: 'join with_related',
  get: 'find_unique find_one find_by_id by_id',
  update: 'set update_one patch',
  delete: 'remove destroy delete_one',
  // Methods.
  len: 'length size',
  contains: 'includes has contains_key',
  any: 'some exists',
  all: 'every',
  reduce: 'fold inject',
  append: 'add',
  distinct: 'uniq unique',
  concat: 'extend',
  avg: 'mean average',
  sort: 'sorted',
  sort_by: 'order_by',
  first: 'head',
  find: 'find_first',
  slice: 'substring substr sub_list',
  take: 'first_n top',
  skip: 'drop',
  index_of: 'find_index position',
  intersection: 'intersect',
  difference: 'except minus without subtract',
  to_map: 'to_dict from_entries',
  map_values: 'map transform_values',
  to_upper: 'to_upper_case upper uppercase',
  to_lower: 'to_lower_case lower lowercase',
  trim: 'strip',
  trim_start: 'lstrip trim_left',
  trim_end: 'rstrip trim_right',
  pad_start: 'rjust pad_left zfill',
  pad_end: 'ljust pad_right',
  replace: 'replace_all',
  set: 'put insert',
  remove: 'delete pop',
  entries: 'items',
  unwrap_or: 'get_or_else or default value_or',
  or_else: 'or_else_get',
  map_err: 'map_error',
}

const bySynonym: ReadonlyMap<string, readonly string[]> = Object.entries(synonyms).reduce((all, [name, words]) => {
  for (const word of words.split(' ')) all.set(word, [...(all.get(word) ?? []), name])
  return all
}, new Map<string, string[]>())

/** The method with another name in camel case or in another language. */
export function foreignMethod(name: string, known: readonly string[]): string | undefined {
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return [snake, ...(bySynonym.get(snake) ?? [])].find((each) => known.includes(each))
}
