import {setTimeout as sleep} from 'node:timers/promises'
import type {Database} from 'better-sqlite3'
import {isErrorOf} from '../../../../src/errors/index.js'
import type {Credentials} from '../../../../src/mesh/index.js'
import type {MeshStore} from '../../../../src/mesh/store/mesh-store.js'

/** A control plane that is sound, to be spoilt. */
export interface Sound {
  store: MeshStore
  credentials: Credentials
  /** A connection of its own to the file of the store. */
  database: Database
  leaseMs: number
  scope: string
}

/** Spoils one thing of it; gives the store that is served. */
type Bug = (sound: Sound) => MeshStore

/** Tokens that were drawn too early are told from those of the store by their height. */
const firstDrawn = 1_000_000
const longestDrawMs = 300

/** A store that differs from another in some operations. */
const differing = (store: MeshStore, changes: Partial<MeshStore>): MeshStore =>
  new Proxy(store, {
    get(target, name) {
      const changed = changes[name as keyof MeshStore]
      return changed ?? Reflect.get(target, name, target)
    },
  })

export const bugs = {
  none: ({store}) => store,

  /** The number of a lease is drawn before it is known that the key is free. */
  'token-before-lock'({store, database}) {
    const renumber = database.prepare('UPDATE mesh_exec_leases SET lease_id = ? WHERE lease_id = ?')
    let drawn = firstDrawn
    return differing(store, {
      async grantLease(scope, claim) {
        const token = ++drawn
        await sleep(Math.random() * longestDrawMs)
        const lease = await store.grantLease(scope, claim)
        if (lease.fence_token >= firstDrawn) return lease
        renumber.run(token, lease.fence_token)
        return {...lease, lease_id: String(token), fence_token: token}
      },
    })
  },

  /** Whoever acknowledges a message is believed to have it. */
  'ack-without-holder': ({store}) =>
    differing(store, {ack: (scope, {receiver, message}) => store.ack(scope, {receiver, message})}),

  /** The first try uses up the token for new nodes, right or wrong. */
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

  /** What is known of a key goes with the acknowledgement. */
  'dedupe-lost-after-ack'({store, database}) {
    const forget = database.prepare('UPDATE mesh_messages SET idem_key = NULL WHERE id = ? AND acked_at IS NOT NULL')
    return differing(store, {
      async ack(scope, ack) {
        await store.ack(scope, ack)
        forget.run(ack.message)
      },
    })
  },

  /** Whoever joins starts anew. */
  'join-ends-quarantine': ({store}) =>
    differing(store, {
      async join(scope, facts, options) {
        const record = await store.join(scope, facts, options)
        await store.setQuarantine(scope, facts.id, false, facts.id)
        return record
      },
    }),

  /** A lease that has run out is as good as one that has not, as long as nobody else wants it. */
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

  /** Messages are accepted, and thrown away. */
  'deliveries-forgotten'({store}) {
    let forgotten = firstDrawn
    return differing(store, {deliver: async () => ({accepted: true, message_id: ++forgotten})})
  },
} as const satisfies Readonly<Record<string, Bug>>

export type BugName = keyof typeof bugs
