import Spectra
import TakeFiles
import Takes

/// The columns of one part, which are written while its sound is read. Not thread-safe.
///
/// Whatever happens to the columns, the sound can be read on. Released before `finish`, it leaves nothing behind.
final class SpectrumRecording {
    private enum State {
        case open(SpectraWriter)
        case closed
    }

    let sound: RecordedSound
    private let desk: SpectraDesk
    private let work: SpectraDesk.WorkID
    private var state: State
    private var byteCount: Int64 = 0

    /// - Parameter work: its number at the desk.
    init(_ writer: SpectraWriter, of sound: RecordedSound, _ work: SpectraDesk.WorkID, at desk: SpectraDesk) {
        state = .open(writer)
        self.sound = sound
        self.work = work
        self.desk = desk
    }

    deinit {
        // The draft is removed before another file is begun.
        state = .closed
        desk.end(work)
    }

    /// Whether columns are still written. They end early if the desk stops them, or if they cannot be stored.
    var isOpen: Bool {
        switch state {
        case .open: true
        case .closed: false
        }
    }

    /// Adds samples as in the `data` chunk of a WAV file.
    func append(_ bytes: RawSpan) {
        guard case .open(let writer) = state else { return }
        byteCount += Int64(bytes.byteCount)
        guard desk.mayGoOn(work, frames: byteCount / Int64(sound.format.bytesPerFrame)) else {
            state = .closed
            return
        }
        do {
            try writer.append(bytes)
        } catch {
            state = .closed
            if (error as? SpectraError)?.kind == .sound {
                // Nobody may read on to the finding.
                desk.refuse(sound.base, .damage("\(sound.file): it has more sound than its sidecar says"))
            } else {
                desk.fail(sound.base, error)
            }
        }
    }

    /// Gives the file its name if the sound is what was recorded.
    func finish(_ finding: SoundFinding) {
        switch finding {
        case .asRecorded(let sha256), .unproven(let sha256):
            guard case .open(let writer) = state else { return }
            do {
                try writer.finish(sha256: sha256)
                desk.succeed(sound.base)
            } catch {
                desk.fail(sound.base, error)
            }
        case .missing, .unreadable, .otherFormat, .cut, .otherLength, .differs:
            desk.refuse(sound.base, .damage("\(sound.file): \(finding.sentence(sound))"))
        }
        state = .closed
    }
}
