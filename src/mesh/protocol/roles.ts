/** Who a request comes from, by the token it carries. */
export const roles = ['mesh', 'admin', 'worker', 'submitter', 'bootstrap'] as const
export type Role = (typeof roles)[number]

/** The variable of the environment that holds the token of each role. */
export const tokenVariables = {
  mesh: 'SVC_MESH_TOKEN',
  admin: 'SVC_MESH_ADMIN_TOKEN',
  worker: 'SVC_MESH_WORKER_TOKEN',
  submitter: 'SVC_MESH_SUBMITTER_TOKEN',
  bootstrap: 'SVC_MESH_BOOTSTRAP_TOKEN',
} as const satisfies Readonly<Record<Role, string>>

/** A part of the control plane that some roles may use. */
export type Plane = 'open' | 'worker' | 'deliver' | 'admin' | 'bootstrap'

/**
 * Who may use which plane. A worker does not deliver and a submitter does nothing else, so that neither can do the
 * other's harm; the token for new nodes is good for its exchange alone.
 */
export const mayUse: Readonly<Record<Plane, readonly Role[]>> = {
  open: roles,
  worker: ['mesh', 'admin', 'worker'],
  deliver: ['mesh', 'admin', 'submitter'],
  admin: ['mesh', 'admin'],
  bootstrap: ['bootstrap'],
}
