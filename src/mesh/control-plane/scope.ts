import {SvcError} from '../../errors/index.js'
import type {Scope} from '../store/mesh-store.js'

/**
 * A node that joins says which scope it means, where the control plane has one. Rows are never kept under what a body
 * says: a control plane without a scope takes no notice of it.
 * @throws scope_mismatch
 */
export function requireScope(scope: Scope, given: string | undefined): void {
  if (scope !== '' && given !== scope) throw new SvcError('scope_mismatch', {})
}
