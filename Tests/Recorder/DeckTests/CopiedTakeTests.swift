import Foundation
import Panel
import Takes
import TestBench
import Testing
import Transport

@testable import Deck

/// Takes that another program copied into the folder while the recorder runs.
@Suite struct CopiedTakeTests {
    private func record(_ count: Int, on rig: Rig) {
        for _ in 0..<count {
            rig.run(.milliseconds(300))
            rig.press(.record)
            rig.run(.milliseconds(1500))
            rig.press(.stop)
            rig.settle()
        }
    }

    /// A kit without a take, and two takes of another kit that were copied into its folder.
    private func copied() throws -> (Rig, [TakeName]) {
        let source = try Rig()
        record(2, on: source)
        let takes = source.deck.selection.takes
        let rig = try Rig()
        rig.run(.milliseconds(300))
        let day = try #require(takes.first?.day)
        try FileManager.default.copyItem(atPath: "\(source.directory)/\(day)", toPath: "\(rig.directory)/\(day)")
        return (rig, takes)
    }

    private func perform(_ command: Command, on rig: Rig) -> String {
        var text = "none"
        rig.deck.perform(command) { result in
            switch result {
            case .success(let status): text = "\(status.state.rawValue) \(status.take ?? "-")"
            case .failure(let refusal): text = "\(refusal.code.rawValue): \(refusal.message)"
            }
        }
        rig.run(.milliseconds(50), step: .milliseconds(5))
        return text
    }

    @Test func `a take that was copied in is found by its number, and played`() throws {
        let (rig, takes) = try copied()
        #expect(rig.deck.selection.takes == [])
        #expect(perform(.play(.number(2)), on: rig) == "playing \(takes[1].stem)")
        #expect(rig.deck.selection.takes == [takes[1]])
        #expect(perform(.stop, on: rig) == "idle \(takes[1].stem)")
    }

    @Test func `a take that was copied in is found by its stem, and selected`() throws {
        let (rig, takes) = try copied()
        #expect(perform(.select(.stem(takes[0].stem)), on: rig) == "idle -")
        #expect(rig.deck.status.selected == takes[0].stem)
    }

    @Test func `a take that is not in the folder either is refused, and so is each of two requests`() throws {
        let (rig, _) = try copied()
        let refusal = "no such take in \(rig.directory)"
        var answers: [String] = []
        for command in [Command.play(.number(9)), .select(.number(9))] {
            rig.deck.perform(command) {
                if case .failure(let refusal) = $0 { answers.append(refusal.message) }
            }
        }
        #expect(answers == [])
        rig.work()
        #expect(answers == ["play: 9: \(refusal)", "select: 9: \(refusal)"])
        #expect(rig.deck.indication.answer?.kind == .refused)
    }

    @Test func `nothing is searched for while a take is recorded`() throws {
        let rig = try Rig.recording(for: .milliseconds(300))
        var answer = "none"
        rig.deck.perform(.select(.number(2))) {
            if case .failure(let refusal) = $0 { answer = refusal.message }
        }
        #expect(answer == "select: 2: no such take in \(rig.directory)")
    }

    @Test func `a storage that goes away meanwhile answers the request`() throws {
        let (rig, _) = try copied()
        rig.stuck = [.archivist]
        var answer = "none"
        rig.deck.perform(.play(.number(2))) {
            if case .failure(let refusal) = $0 { answer = refusal.message }
        }
        rig.deck.closeDirectory()
        rig.stuck = []
        rig.work()
        #expect(answer == "play: 2: no such take in \(rig.directory)")
    }
}
