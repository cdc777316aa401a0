/** The speech server: recordings by path or upload over HTTP, and live audio over WebSocket. */
export {type SpeechServer, type SpeechServerOptions, startSpeechServer} from './server.js'
export {type SessionKeeping, Sessions} from './sessions/sessions.js'
