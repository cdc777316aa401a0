/** SQL condition: the column is in a JSON array, or the array is null. */
export const isOneOf = (column: string, parameter: string) =>
  `(${parameter} IS NULL OR ${column} IN (SELECT value FROM json_each(${parameter})))`

export const listed = (values: readonly unknown[] | undefined): string | null =>
  values === undefined ? null : JSON.stringify(values)
