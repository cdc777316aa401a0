/**
 * A number of things, in words.
 *
 * @example counted(1, 'step') // 1 step
 * counted(2, 'entry', 'entries') // 2 entries
 */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`
