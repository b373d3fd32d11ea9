import DiskCalls
import Takes
import Testing

@testable import Exports

@Suite(.waitsOnNamedThreads) struct PictureCacheTests {
    private let take: DrawnTake

    init() throws {
        let samples = [Int16](repeating: 0, count: 1000)
        take = try DrawnTake([.init(first: 0, rateHz: 1000, samples: samples, hasColumns: false)])
    }

    /// A picture of 4 columns of 128 rows, which with its overhead takes 1024 bytes.
    private func entry(_ first: Int64, _ sound: String = "a") throws -> (key: PictureCache.Key, picture: TakePicture) {
        let query = try PictureQuery(
            of: take.sidecar, range: first..<first + 40, columns: 4, channel: 0, window: 256)
        return (PictureCache.Key(sounds: [sound], query: query), TakePicture(query))
    }

    @Test func `the picture that was not used for the longest time is removed first`() throws {
        var cache = PictureCache(mostBytes: 3 * 1024)
        let entries = try (0..<5).map { try entry(Int64($0)) }
        for entry in entries[..<3] { cache.keep(entry.picture, as: entry.key) }
        #expect(cache.byteCount == 3 * 1024)
        #expect(cache.picture(entries[0].key) == entries[0].picture)
        cache.keep(entries[3].picture, as: entries[3].key)
        #expect(cache.byteCount == 3 * 1024)
        #expect(entries.map { cache.picture($0.key) != nil } == [true, false, true, true, false])
        // They were used in this order by the line above.
        cache.keep(entries[4].picture, as: entries[4].key)
        #expect(entries.map { cache.picture($0.key) != nil } == [false, false, true, true, true])
    }

    @Test func `a picture is kept once, and one that is larger than the cache is not kept`() throws {
        var cache = PictureCache(mostBytes: 1500)
        let (key, picture) = try entry(0)
        cache.keep(picture, as: key)
        cache.keep(picture, as: key)
        #expect(cache.byteCount == 1024 && cache.picture(key) == picture)
        let other = try entry(0, "b").key
        #expect(cache.picture(other) == nil)
        var small = PictureCache(mostBytes: 1023)
        small.keep(picture, as: key)
        #expect(small.byteCount == 0 && small.picture(key) == nil)
    }

    @Test func `a picture of sound without a fingerprint is made, and not kept`() throws {
        let pictures = TakePictures()
        let (key, _) = try entry(0)
        let sound = try TakeSound(of: take.sidecar, in: take.folder)
        let made = try pictures.make(key.query, of: sound, nil)
        #expect(pictures.kept(key.query, of: ["a"]) == nil)
        #expect(try pictures.make(key.query, of: sound, ["a"]) == made)
        #expect(pictures.kept(key.query, of: ["a"]) == made && pictures.kept(key.query, of: ["b"]) == nil)
    }
}
