// Text in base64, and zlib streams, as bytes.

export type Bytes = Uint8Array<ArrayBuffer>;

export function fromBase64(text: string): Bytes {
  const native = Uint8Array as unknown as { fromBase64?: (text: string) => Bytes };
  if (native.fromBase64 !== undefined) return native.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** Inflates a zlib stream (RFC 1950). */
export async function inflate(bytes: Bytes): Promise<Bytes> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
