import Files
import Filters
import Playback
import Recording
import Ring
import TakeFiles
import Takes
import Workers

struct DeckWorkers {
    let card: Worker<CardOrder, CardOutcome>
    let storage: Worker<StorageOrder, StorageOutcome>
    let sync: SyncWorker
    let writer: WriterWorker
    let player: Worker<PlayOrder, PlayOutcome>
    let archivist: Worker<ArchiveOrder, ArchiveOutcome>
    /// The kit's identity, or nil if it keeps none, as in a demonstration.
    let key: KitKey?
    /// Signals by itself when the capture has ended.
    let source: any CaptureSource

    /// Creates the workers without threads.
    init(
        card: any CaptureSource, sink: any PlaybackSink, options: DeckOptions, clock: any Clock,
        files: FileSystem = FileSystem()
    ) {
        source = card
        self.card = CardWork.worker(
            card, ringDuration: options.ringDuration, memoryBytes: options.memoryBytes, clock: clock)
        let mark = options.stateFolder.map { KitMark(folder: $0, files: files) }
        key = options.stateFolder.map { KitKey(folder: $0, files: files) }
        storage = StorageWork.worker(files: files, mark: mark, key: key, clock: clock)
        sync = SyncWorker(syncsBy: clock)
        writer = WriterWorker(writesBy: clock, sync: sync)
        player = Player.worker(sink: sink, clock: clock)
        archivist = Archivist.worker(reserveBytes: options.reserveBytes, clock: clock)
    }

    /// Gives each worker a thread. Opening a card or reading a folder must not delay a button, so the threads of card
    /// and storage have a low priority. The capture thread is started from the card's thread, and inherits its low
    /// priority unless it is real-time.
    func start() throws(ThreadError) {
        try card.start(name: "card", priority: .low)
        try storage.start(name: "storage", priority: .low)
        try sync.start(name: "sync")
        try writer.start(name: "writer") { Denormals.flushToZero() }
        try player.start(name: "player") { Denormals.flushToZero() }
        try archivist.start(name: "archivist", priority: .idle)
    }

    /// The file descriptors to poll for outcomes.
    var fileDescriptors: [Int32] {
        [
            card.fileDescriptor, storage.fileDescriptor, writer.fileDescriptor, player.fileDescriptor,
            archivist.fileDescriptor, source.endedFileDescriptor,
        ]
    }
}
