/** Extensions of audio and video files that can be recordings. */
export const audioExtensions: readonly string[] =
  'wav wave rf64 mp3 mp2 mpga flac ogg oga opus m4a m4b aac aif aiff caf amr au tta w64 wma wv mp4 mka mkv mpeg weba webm mov avi m4v 3gp'.split(
    ' ',
  )
