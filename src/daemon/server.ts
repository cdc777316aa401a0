export interface Server {
  /** `127.0.0.1:9745`; undefined where nobody can connect. */
  readonly address: string | undefined
  /** Resolves when there will be no more requests; never where clients come and go. */
  readonly ended: Promise<void>
  /** Takes no more requests, answers those that have come, for so long at most, and leaves. */
  close(graceMs: number): Promise<void>
}
