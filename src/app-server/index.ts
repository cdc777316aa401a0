/** HTTP for data-language programs: routes from declarations, parameters by type, the change log as a stream. */
export {LiveFeed} from './live.js'
export {type AppServer, type AppServerOptions, startAppServer} from './server.js'
