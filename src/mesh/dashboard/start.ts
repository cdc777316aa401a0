import type {Dashboard, DashboardOptions} from './server.js'

/**
 * Serves a page that shows a control plane, and lets its nodes be looked after. The server is loaded when it starts.
 * @throws port_in_use, address_unavailable
 */
export async function startDashboard(options: DashboardOptions): Promise<Dashboard> {
  const {serveDashboard} = await import('./server.js')
  return serveDashboard(options)
}
