/** Exit statuses of every command: stable, documented, and the same on every interface. */
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

/** One kind of error. `message` says what failed, where and why; `hint` is one concrete action. One sentence each. */
export interface ErrorRow<P> {
  exit: ExitStatus
  /** HTTP status of a response with this error; default: the one that corresponds to its exit status. */
  http?: number
  message: (params: P) => string
  hint: string | ((params: P) => string)
  /** OpenAI's code for this error, if there is one. */
  openai?: string | ((params: P) => string | undefined)
  /** The request field that caused the error, for wire formats that name it. */
  param?: (params: P) => string
}

const rowWith =
  (exit: ExitStatus) =>
  <P = object>(row: Omit<ErrorRow<P>, 'exit'>): ErrorRow<NoInfer<P>> => ({exit, ...row})

/** Rows of each exit status. `P`, the parameters of an error, is inferred from its functions. */
export const failed = rowWith(Exit.failed)
export const usage = rowWith(Exit.usage)
export const notFound = rowWith(Exit.notFound)
export const conflict = rowWith(Exit.conflict)
export const unavailable = rowWith(Exit.unavailable)
export const interrupted = rowWith(Exit.interrupted)
export const terminated = rowWith(Exit.terminated)

/** A limit in the largest binary unit that divides it: `16 MiB`, `100 bytes`. */
export const size = (bytes: number): string =>
  bytes % 2 ** 20 === 0 ? `${bytes / 2 ** 20} MiB` : bytes % 2 ** 10 === 0 ? `${bytes / 2 ** 10} KiB` : `${bytes} bytes`

/** Replaces control characters, including line breaks, by spaces. */
export const oneLine = (text: string): string => text.replaceAll(/\p{Cc}+/gu, ' ').trim()

/** Keeps the parameter type of each row; the table is built at the first lookup of an error. */
export const rows = <T extends Record<string, ErrorRow<never>>>(declare: () => T): (() => T) => declare
