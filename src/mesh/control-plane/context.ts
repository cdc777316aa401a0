import type {RateLimit} from '../../net/index.js'
import type {MeshStore, Scope} from '../store/mesh-store.js'
import type {BootstrapGrants} from './auth/bootstrap.js'
import type {Credentials} from './auth/credentials.js'
import type {ControlPlaneMetrics} from './metrics.js'
import type {PendingCounts} from './pending.js'
import type {Waiters} from './waiters.js'

/** State shared by all routes. */
export interface ControlPlaneContext {
  store: MeshStore
  scope: Scope
  /** Current credentials; replaced when the secrets are reloaded. */
  credentials: Credentials
  /** Rate limit per caller; undefined for none. */
  rate: {limit: RateLimit; perSecond: number} | undefined
  /** Limits wrong bootstrap tokens per address. */
  wrongTokens: RateLimit
  grants: BootstrapGrants
  stalePruneMs: number
  heartbeatsPerSec: number
  waiters: Waiters
  pending: PendingCounts
  metrics: ControlPlaneMetrics
  /** True while running requests are finished before the end. */
  isStopping: boolean
}
