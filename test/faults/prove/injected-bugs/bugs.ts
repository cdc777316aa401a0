import {setTimeout as sleep} from 'node:timers/promises'
import type {Database} from 'better-sqlite3'
import {isErrorOf} from '../../../../src/errors/index.js'
import type {Credentials} from '../../../../src/mesh/index.js'
import type {MeshStore} from '../../../../src/mesh/store/mesh-store.js'

/** Parts of a correct control plane, into which a bug is injected. */
export interface ControlPlaneParts {
  store: MeshStore
  credentials: Credentials
  /** Separate connection to the database of the store. */
  database: Database
  leaseMs: number
  scope: string
}

/** Injects one bug and returns the store to serve. */
type Bug = (parts: ControlPlaneParts) => MeshStore

/** Tokens drawn by the bug start here, to distinguish them from tokens of the store. */
const firstDrawn = 1_000_000
const maxDrawMs = 300

/** Overrides some operations of a store. */
const differing = (store: MeshStore, changes: Partial<MeshStore>): MeshStore =>
  new Proxy(store, {
    get(target, name) {
      const changed = changes[name as keyof MeshStore]
      return changed ?? Reflect.get(target, name, target)
    },
  })

export const bugs = {
  none: ({store}) => store,

  /** Draws the lease number before checking that the key is free. */
  'token-before-lock'({store, database}) {
    const renumber = database.prepare('UPDATE mesh_exec_leases SET lease_id = ? WHERE lease_id = ?')
    let drawn = firstDrawn
    return differing(store, {
      async grantLease(scope, claim) {
        const token = ++drawn
        await sleep(Math.random() * maxDrawMs)
        const lease = await store.grantLease(scope, claim)
        if (lease.fence_token >= firstDrawn) return lease
        renumber.run(token, lease.fence_token)
        return {...lease, lease_id: String(token), fence_token: token}
      },
    })
  },

  /** Does not check who acknowledges a message. */
  'ack-without-holder': ({store}) =>
    differing(store, {ack: (scope, {receiver, message}) => store.ack(scope, {receiver, message})}),

  /** The first attempt consumes the bootstrap token, even if it is wrong. */
  'guess-burns-bootstrap'({store, credentials, scope}) {
    const isRight = credentials.isBootstrap.bind(credentials)
    credentials.isBootstrap = (token) => {
      const {bootstrap} = credentials
      if (!isRight(token) && bootstrap !== undefined)
        store
          .useBootstrap(scope, bootstrap.digest, {expiresMs: bootstrap.expiresMs, by: 'a guess'})
          .catch(() => undefined)
      return isRight(token)
    }
    return store
  },

  /** Forgets the idempotency key when the message is acknowledged. */
  'dedupe-lost-after-ack'({store, database}) {
    const forget = database.prepare('UPDATE mesh_messages SET idem_key = NULL WHERE id = ? AND acked_at IS NOT NULL')
    return differing(store, {
      async ack(scope, ack) {
        await store.ack(scope, ack)
        forget.run(ack.message)
      },
    })
  },

  /** A join ends the quarantine of the node. */
  'join-ends-quarantine': ({store}) =>
    differing(store, {
      async join(scope, facts, options) {
        const record = await store.join(scope, facts, options)
        await store.setQuarantine(scope, facts.id, false, facts.id)
        return record
      },
    }),

  /** Renews expired leases. */
  'expired-lease-renewed'({store, database, leaseMs}) {
    const revive = database.prepare(
      `UPDATE mesh_exec_leases SET state = 'granted', ended_at = NULL, expires_at = ?
WHERE lease_id = ? AND holder = ? AND state = 'expired'`,
    )
    return differing(store, {
      async renewLease(scope, held) {
        try {
          await store.renewLease(scope, held)
        } catch (error) {
          const isRevived =
            isErrorOf(error, 'lease_not_found') &&
            revive.run(store.now() + leaseMs, Number(held.lease), held.claimer).changes > 0
          if (!isRevived) throw error
        }
      },
    })
  },

  /** Accepts messages without storing them. */
  'deliveries-forgotten'({store}) {
    let forgotten = firstDrawn
    return differing(store, {deliver: async () => ({accepted: true, message_id: ++forgotten})})
  },
} as const satisfies Readonly<Record<string, Bug>>

export type BugName = keyof typeof bugs
