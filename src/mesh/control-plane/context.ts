import type {RateLimit} from '../../net/index.js'
import type {MeshStore, Scope} from '../store/mesh-store.js'
import type {BootstrapGrants} from './auth/bootstrap.js'
import type {Credentials} from './auth/credentials.js'
import type {ControlPlaneMetrics} from './metrics.js'
import type {PendingCounts} from './pending.js'
import type {Waiters} from './waiters.js'

/** What the routes work with. */
export interface ControlPlaneContext {
  store: MeshStore
  scope: Scope
  /** Those of the moment: they change when the secrets are read again. */
  credentials: Credentials
  /** Of each caller; undefined sets no limit. */
  rate: {limit: RateLimit; perSecond: number} | undefined
  /** Of wrong tokens for new nodes, by address. */
  wrongTokens: RateLimit
  grants: BootstrapGrants
  stalePruneMs: number
  heartbeatsPerSec: number
  waiters: Waiters
  pending: PendingCounts
  metrics: ControlPlaneMetrics
}
