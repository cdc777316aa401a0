/** The dashboard: a web page that shows and changes a workspace, and its server, which performs operations for the page. */
export {type DashboardOptions, startDashboard} from './server.js'
