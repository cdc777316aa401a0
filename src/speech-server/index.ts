/** The speech server: recordings by path or upload over HTTP, and live audio over WebSocket. */
export {type AudioRoutesOptions, openAiAudioRoutes} from './openai/audio-routes.js'
export {type ServedSpeechModel, speechModelEntry} from './openai/models.js'
export {type SpeechServer, type SpeechServerOptions, startSpeechServer} from './server.js'
export {type SessionKeeping, Sessions} from './sessions/sessions.js'
export {Uploads} from './upload.js'
