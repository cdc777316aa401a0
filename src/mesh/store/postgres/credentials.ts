import {SvcError} from '../../../errors/index.js'
import type {Scope} from '../mesh-store.js'
import {maxTokenIds, rowsAtOnce} from '../retention.js'
import {type Database, statement} from './database.js'
import {type Answer, Lane, transpose} from './lane.js'

const sql = {
  use: statement(`SELECT u.* FROM unnest($1::text[], $2::bigint[], $3::boolean[]) WITH ORDINALITY AS r (a, b, c, no),
  LATERAL mesh_use_token(a, b, c) u ORDER BY no`),
  count: statement('SELECT count(*) AS count FROM mesh_jti'),
  forget: statement("SELECT mesh_remove('mesh_jti', 'exp', mesh_now(), $1)"),
  bootstrap: statement(`WITH used AS (INSERT INTO mesh_bootstrap (token_sha256, scope_id, expires_at, used_at, used_by)
  VALUES ($1, $2, $3, mesh_now(), $4) ON CONFLICT DO NOTHING RETURNING used_at)
SELECT mesh_log($2, $4, 'bootstrap.used', left($1, 16), jsonb_build_object('expires_unix_ms', $3::bigint)) FROM used`),
}

type Use = [id: string, keepUntilMs: number, hasRoom: boolean]

/** Single-use tokens and bootstrap tokens that were used. */
export class UsedTokens {
  readonly #database: Database
  /** Number of ids that may still be recorded before they are counted again; other processes record some too. */
  #room = 0
  readonly #uses: Lane<Use, boolean>
  #counting: Promise<void> | undefined

  constructor(database: Database) {
    this.#database = database
    this.#uses = new Lane({run: (uses) => this.#use(uses), max: rowsAtOnce})
  }

  async useTokenId(id: string, keepUntilMs: number): Promise<boolean> {
    return this.#uses.add([id, keepUntilMs, await this.#take()])
  }

  get depth(): number {
    return this.#uses.depth
  }

  async useBootstrap(scope: Scope, digest: string, {expiresMs, by}: {expiresMs: number; by: string}): Promise<void> {
    const rows = await this.#database.query(sql.bootstrap, [digest, scope, expiresMs, by])
    if (rows.length === 0) throw new SvcError('bootstrap_consumed', {})
  }

  async #use(uses: readonly Use[]): Promise<Answer<boolean>[]> {
    const rows = await this.#database.query<{refusal: string | null; is_new: boolean}>(sql.use, transpose(uses))
    return rows.map(({refusal, is_new}) =>
      refusal === null
        ? {value: is_new}
        : {error: new SvcError('overloaded', {reason: 'The limit of single-use tokens is reached.'})},
    )
  }

  /** @returns false if the limit is reached */
  async #take(): Promise<boolean> {
    if (this.#room <= 0) {
      this.#counting ??= this.#count().finally(() => {
        this.#counting = undefined
      })
      await this.#counting
    }
    this.#room -= 1
    return this.#room >= 0
  }

  /** Counts the recorded ids; makes room if there is none. */
  async #count(): Promise<void> {
    const count = async () => (await this.#database.one<{count: number}>(sql.count)).count
    this.#room = maxTokenIds - (await count())
    if (this.#room > 0) return
    await this.#database.query(sql.forget, [rowsAtOnce])
    this.#room = maxTokenIds - (await count())
  }
}
