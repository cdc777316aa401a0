/** File type detected from the first bytes. */
export type Sniffed =
  /** Decoded without ffmpeg. */
  | {kind: 'wav' | 'flac' | 'mp3' | 'ogg-flac' | 'ogg-opus' | 'ogg-vorbis'}
  /** Decoded with ffmpeg. `format` completes "it is …"; `seeks` is set if the index may be at the end of the file. */
  | {kind: 'ffmpeg'; format: string; seeks?: true}
  /** Not audio; `found` completes "it looks like …". */
  | {kind: 'other'; found: string}

/** Number of bytes that `sniff` needs. */
export const sniffLength = 512

type Signature = readonly [offset: number, bytes: string, sniffed: Sniffed]

const ffmpeg = (format: string) => ({kind: 'ffmpeg', format}) as const
const other = (found: string) => ({kind: 'other', found}) as const

/** Latin-1 signatures at fixed offsets; the first match wins. */
const signatures: readonly Signature[] = [
  [0, 'fLaC', {kind: 'flac'}],
  ...['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'hevm', 'hevs', 'mif1', 'mif2', 'msf1', 'avif', 'avis'].map(
    (brand) => [4, `ftyp${brand}`, other('a HEIF or AVIF image')] as const,
  ),
  [4, 'ftypcrx ', other('a Canon raw photo')],
  [4, 'ftyp', {...ffmpeg('an MP4 or M4A file'), seeks: true}],
  [0, '\x1a\x45\xdf\xa3', ffmpeg('a Matroska or WebM file')],
  [0, 'riff\x2e\x91\xcf\x11', ffmpeg('a Sony Wave64 file')],
  [0, 'caff', ffmpeg('a Core Audio file')],
  [0, '#!AMR', ffmpeg('an AMR file')],
  [0, 'wvpk', ffmpeg('a WavPack file')],
  [0, 'MAC ', ffmpeg("a Monkey's Audio file")],
  [0, '\x30\x26\xb2\x75\x8e\x66\xcf\x11', ffmpeg('a Windows Media file')],
  [0, 'FLV\x01', ffmpeg('a Flash Video file')],
  [0, '.snd', ffmpeg('a Sun audio file')],
  [0, 'TTA1', ffmpeg('a True Audio file')],
  [0, 'MPCK', ffmpeg('a Musepack file')],
  [0, 'ADIF', ffmpeg('an AAC file')],
  [0, '\x00\x00\x01\xba', ffmpeg('an MPEG program stream')],
  [0, 'OggS', ffmpeg('an Ogg file with another codec')],
  [0, '\x89PNG', other('a PNG image')],
  [0, '\xff\xd8\xff', other('a JPEG image')],
  [0, 'GIF8', other('a GIF image')],
  [0, '%PDF', other('a PDF document')],
  [0, 'PK\x03\x04', other('a ZIP archive')],
  [0, '\x1f\x8b', other('a gzip archive')],
  [0, '\x7fELF', other('a program')],
  [0, 'SQLite format 3', other('an SQLite database')],
]

/** Starts of the major brands of MP4 files with audio or video. Source: mp4ra.org, registered brands. */
const filmBrands =
  'iso isml mp4 mp7 mp21 M4A M4B M4P M4V F4 f4v qt avc av01 hvc1 dash msdh mmp4 3g kddi MSNV XAVC cmf piff dby1 NDS NDX caqv'.split(
    ' ',
  )

/** RIFF and FORM types. */
const inner: Readonly<Record<string, Sniffed>> = {
  'RIFF WAVE': {kind: 'wav'},
  'RIFX WAVE': {kind: 'wav'},
  'RF64 WAVE': {kind: 'wav'},
  'BW64 WAVE': {kind: 'wav'},
  'RIFF AVI ': ffmpeg('an AVI file'),
  'RIFF WEBP': other('a WebP image'),
  'FORM AIFF': ffmpeg('an AIFF file'),
  'FORM AIFC': ffmpeg('an AIFF file'),
}

/** Name of unknown formats. */
export const unknownFormat = 'an unknown binary format'

/**
 * @param bytes start of a file, at least `sniffLength` bytes unless the file is shorter
 * @param weak whether one or two bytes are enough, which raw samples and other binary files can start with
 */
export function sniff(bytes: Buffer, {weak = true} = {}): Sniffed {
  const text = bytes.toString('latin1')
  const container = inner[`${text.slice(0, 4)} ${text.slice(8, 12)}`]
  if (container !== undefined) return container
  if (text.startsWith('OggS')) {
    // The first page has one packet, which starts after the 27-byte header and a segment table of one entry.
    if (text.startsWith('OpusHead', 28)) return {kind: 'ogg-opus'}
    if (text.startsWith('\x01vorbis', 28)) return {kind: 'ogg-vorbis'}
    if (text.startsWith('\x7fFLAC', 28)) return {kind: 'ogg-flac'}
  }
  const signature = signatures.find(([offset, magic]) => text.startsWith(magic, offset))
  if (signature !== undefined) return signature[2]
  if (weak && text.startsWith('\x0b\x77')) return ffmpeg('an AC-3 file')
  const layer = weak ? mpegLayer(bytes) : undefined
  if (layer === 3) return {kind: 'mp3'}
  if (layer !== undefined) return ffmpeg(layer === 0 ? 'an AAC stream' : 'an MPEG audio file')
  if ([0, 188, ...(weak ? [] : [376])].every((at) => bytes[at] === 0x47)) return ffmpeg('an MPEG transport stream')
  return other(textKind(text))
}

/**
 * True if a file certainly contains audio or video, by its first bytes. Files with a weak signature, texts that start like
 * a signature, and MP4 files with an unknown brand are none.
 */
export function isCertainlyAudio(bytes: Buffer): boolean {
  const text = bytes.toString('latin1')
  if (textKind(text) !== unknownFormat) return false
  if (text.startsWith('ftyp', 4)) return filmBrands.some((brand) => text.startsWith(brand, 8))
  return id3Length(bytes) > 0 || sniff(bytes, {weak: false}).kind !== 'other'
}

/** Length of the ID3v2 tag at the start, bytes; 0 if there is none. Source: id3.org, ID3v2.4 section 3.1. */
export function id3Length(bytes: Buffer): number {
  if (bytes.length < 10 || bytes.toString('latin1', 0, 3) !== 'ID3') return 0
  const size = [6, 7, 8, 9].reduce((sum, i) => (sum << 7) | (bytes[i]! & 0x7f), 0)
  const footer = bytes[5]! & 0x10 ? 10 : 0
  return 10 + size + footer
}

/** Layer of an MPEG audio frame header, 0 for AAC in ADTS; undefined if there is none. Source: ISO 11172-3, 2.4.1.3. */
function mpegLayer(bytes: Buffer): 0 | 1 | 2 | 3 | undefined {
  if (bytes.length < 4 || bytes[0] !== 0xff || (bytes[1]! & 0xe0) !== 0xe0) return undefined
  const version = (bytes[1]! >> 3) & 3
  const layer = (bytes[1]! >> 1) & 3
  if (version === 1) return undefined
  if (layer === 0) return (bytes[1]! & 0xf0) === 0xf0 ? 0 : undefined
  const bitrate = bytes[2]! >> 4
  const rate = (bytes[2]! >> 2) & 3
  if (bitrate === 15 || rate === 3) return undefined
  return (4 - layer) as 1 | 2 | 3
}

function textKind(text: string): string {
  // Text contains no control characters other than white space.
  if (/[^\t\n\f\r\x20-\x7e\x80-\xff]/.test(text)) return unknownFormat
  const start = text.trimStart()
  if (start.startsWith('{') || start.startsWith('[')) return 'JSON'
  return start.startsWith('<') ? 'HTML or XML' : 'text'
}
