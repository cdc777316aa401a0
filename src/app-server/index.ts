/** The HTTP server of data-language programs: declared routes, typed parameters, and the change log as a stream. */
export {LiveFeed} from './live.js'
export {type AppServer, type AppServerOptions, startAppServer} from './server.js'
