export interface Server {
  /** Address such as `127.0.0.1:9745`; undefined for stdio. */
  readonly address: string | undefined
  /** Resolves when the stdio client has closed; never resolves for TCP. */
  readonly ended: Promise<void>
  /** Stops accepting requests, answers the received ones within `graceMs`, and closes. */
  close(graceMs: number): Promise<void>
}
