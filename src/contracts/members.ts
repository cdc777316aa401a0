/** The type of an object without its undefined members. */
export type WithoutUndefined<T> = {[K in keyof T as undefined extends T[K] ? never : K]: T[K]} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

export const withoutUndefined = <T extends object>(members: T): WithoutUndefined<T> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as WithoutUndefined<T>

/** Removes null columns of a row: absent values are omitted on the wire. */
export const withoutNulls = (row: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))
