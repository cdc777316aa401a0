export const roles = ['mesh', 'admin', 'worker', 'submitter', 'bootstrap'] as const
export type Role = (typeof roles)[number]

/** Environment variable of the token of each role. */
export const tokenVariables = {
  mesh: 'SVC_MESH_TOKEN',
  admin: 'SVC_MESH_ADMIN_TOKEN',
  worker: 'SVC_MESH_WORKER_TOKEN',
  submitter: 'SVC_MESH_SUBMITTER_TOKEN',
  bootstrap: 'SVC_MESH_BOOTSTRAP_TOKEN',
} as const satisfies Readonly<Record<Role, string>>

/** Group of routes with the same permissions. */
export type Plane = 'open' | 'worker' | 'deliver' | 'blob' | 'admin' | 'bootstrap'

/**
 * Roles that may use each plane. A worker cannot deliver, and a submitter can only deliver and exchange files, which limits
 * the damage of a leaked token. The bootstrap token is only valid for its exchange.
 */
export const mayUse: Readonly<Record<Plane, readonly Role[]>> = {
  open: roles,
  worker: ['mesh', 'admin', 'worker'],
  deliver: ['mesh', 'admin', 'submitter'],
  blob: ['mesh', 'admin', 'worker', 'submitter'],
  admin: ['mesh', 'admin'],
  bootstrap: ['bootstrap'],
}
