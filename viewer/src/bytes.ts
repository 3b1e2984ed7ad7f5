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

export function toBase64(bytes: Bytes): string {
  let binary = "";
  for (const each of bytes) binary += String.fromCharCode(each);
  return btoa(binary);
}

/** Inflates a zlib stream (RFC 1950). @param most More bytes are refused: a few can say that there are billions. */
export async function inflate(bytes: Bytes, most = Infinity): Promise<Bytes> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  if (most === Infinity) return new Uint8Array(await new Response(stream).arrayBuffer());
  const parts: Bytes[] = [];
  let length = 0;
  for (const reader = stream.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    length += value.length;
    if (length > most) {
      await reader.cancel();
      throw new Error(`there are more than ${most} bytes`);
    }
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** Deflates to a zlib stream. */
export async function deflate(bytes: Bytes): Promise<Bytes> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
