/** Exit statuses of every command: stable, documented, the same on each surface. */
export const Exit = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  conflict: 4,
  unavailable: 5,
  interrupted: 130,
  terminated: 143,
} as const

export type ExitStatus = (typeof Exit)[keyof typeof Exit]

const httpStatuses: Readonly<Record<ExitStatus, number>> = {
  [Exit.ok]: 200,
  [Exit.failed]: 500,
  [Exit.usage]: 400,
  [Exit.notFound]: 404,
  [Exit.conflict]: 409,
  [Exit.unavailable]: 503,
  [Exit.interrupted]: 499,
  [Exit.terminated]: 503,
}

export const httpStatusOf = ({exit, http = httpStatuses[exit]}: Pick<ErrorRow<never>, 'exit' | 'http'>): number => http

/** One kind of error. `message` and `hint` are one sentence each: what is wrong and where, and what to do about it. */
export interface ErrorRow<P> {
  exit: ExitStatus
  /** HTTP status of the error as an answer to a request; that of its exit status where it is left out. */
  http?: number
  message: (params: P) => string
  hint: string | ((params: P) => string)
  /** The code OpenAI clients know for this error, where they know one. */
  openai?: string
  /** Which request field is at fault, for wires that name it. */
  param?: (params: P) => string
}

const rowWith =
  (exit: ExitStatus) =>
  <P = object>(row: Omit<ErrorRow<P>, 'exit'>): ErrorRow<NoInfer<P>> => ({exit, ...row})

/** Rows of each exit status. `P`, the parameters of an error, follows from the parameters of its functions. */
export const failed = rowWith(Exit.failed)
export const usage = rowWith(Exit.usage)
export const notFound = rowWith(Exit.notFound)
export const conflict = rowWith(Exit.conflict)
export const unavailable = rowWith(Exit.unavailable)
export const interrupted = rowWith(Exit.interrupted)
export const terminated = rowWith(Exit.terminated)

/** Gives each row its own parameter type; the table is built when an error is first looked up. */
export const rows = <T extends Record<string, ErrorRow<never>>>(declare: () => T): (() => T) => declare
