import type {ControlPlane, ControlPlaneOptions} from './server.js'

export type {ControlPlane, ControlPlaneOptions}

/** Starts a control plane; the web framework is loaded by whoever does. @throws what the server throws */
export const startControlPlane = async (options: ControlPlaneOptions): Promise<ControlPlane> =>
  (await import('./server.js')).startControlPlane(options)
