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

    @Test func `a picture that nobody waits for ends before the next read, and is not kept`() throws {
        struct Gone: Error {}
        // At most 262 144 frames are read at once: 32 of 40 columns, then 8, then those of the second part.
        let samples = [Int16](repeating: 1, count: 320_000)
        let take = try DrawnTake([
            .init(first: 0, rateHz: 8000, samples: samples),
            .init(first: 320_000, rateHz: 8000, samples: Array(samples[..<8000])),
        ])
        let query = try PictureQuery(of: take.sidecar, range: 0..<328_000, columns: 41, channel: 0, window: nil)
        let sound = try TakeSound(of: take.sidecar, in: take.folder)
        let pictures = TakePictures()
        /// The checks until the last one, which ends the work.
        func checks(_ most: Int, _ make: (() throws -> Void) throws -> Void) throws -> Int {
            var count = 0
            do {
                try make {
                    count += 1
                    if count == most { throw Gone() }
                }
            } catch is Gone {}
            return count
        }
        func checksOfMaking(_ most: Int) throws -> Int {
            try checks(most) { check in _ = try pictures.make(query, of: sound, ["a"], check: check) }
        }
        for most in 1...3 {
            #expect(try checksOfMaking(most) == most)
            #expect(pictures.kept(query, of: ["a"]) == nil)
        }
        #expect(try checksOfMaking(100) == 3)
        #expect(pictures.kept(query, of: ["a"]) != nil)
        // From the files of columns, each part is read at once.
        func checksOfColumns(_ most: Int) throws -> Int {
            try checks(most) { check in _ = try query.picture(of: take.sidecar, by: take.readers, check: check) }
        }
        #expect(try [1, 2, 100].map(checksOfColumns) == [1, 2, 2])
    }
}
