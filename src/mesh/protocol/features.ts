/** Features of this control plane, sent with every response. Clients check for the features that they need. */
export const features = [
  'mesh-auth-v1',
  'jwt-bearer-v1',
  'exec-lease-v1',
  'exec-lease-persist-v1',
  'exec-lease-admin-revoke-v1',
  'exec-lease-verify-v1',
  'a2a-inbox-limit-v1',
  'a2a-inbox-wait-v1',
  'a2a-observe-v1',
  'a2a-dead-v1',
  'a2a-requirements-v1',
  'blobs-v1',
  'lease-renew-v1',
  'quarantine-v1',
  'maintenance-v1',
  'maintenance-deadline-v1',
  'nodes-page-v1',
  'audit-v1',
  'store-promote-v1',
] as const

export const featureHeader = 'x-mesh-feature'
