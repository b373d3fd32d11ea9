import Foundation
import StoreTrials
import Testing

@testable import Upload

struct ResumeStatesTests {
    let trial: StoreTrial
    init() throws { trial = try StoreTrial() }

    @Test("what is needed to go on is read again, and is none for another object or another store")
    func save() async throws {
        let object = trial.name("heron07-0042-061811Z.wav")
        try await trial.resume.save(["at": 7], of: object, in: "s3:a")
        #expect(await trial.resume.load([String: Int].self, of: object, in: "s3:a") == ["at": 7])
        #expect(await trial.resume.load([String: String].self, of: object, in: "s3:a") == nil)
        #expect(await trial.resume.load([String: Int].self, of: object, in: "s3:b") == nil)
        await trial.resume.remove(object, in: "s3:a")
        #expect(await trial.resume.load([String: Int].self, of: object, in: "s3:a") == nil)
    }

    @Test("what a bad block has changed is none, wherever the changed byte is")
    func damaged() async throws {
        let object = trial.name("heron07-0042-061811Z.wav")
        try await trial.resume.save(["uri": "https://example.org/session/1234"], of: object, in: "firebase:a")
        let folder = "\(trial.folder)/resume"
        let path = try "\(folder)/\(FileManager.default.contentsOfDirectory(atPath: folder)[0])"
        let bytes = try Data(contentsOf: URL(filePath: path))
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 2
            try damaged.write(to: URL(filePath: path))
            #expect(
                await trial.resume.load([String: String].self, of: object, in: "firebase:a") == nil, "byte \(index)")
        }
    }
}
